import type { Command } from '@commander-js/extra-typings';
import { openStorage } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';

/** `valetkey environments list` */
export function configure(command: Command): void {
  command
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('environments list', 'environments list --json'))
    .action(async (options) => {
      const { store } = await openStorage();
      try {
        const environments = (await store.read.environments.list()).map(({ id, kind, baseUrl, hosts }) => {
          return { id, kind, base_url: baseUrl, hosts };
        });
        printResult(options, environments, () =>
          table(
            {
              ENVIRONMENT: ({ id }) => id,
              KIND: ({ kind }) => kind,
              ADDRESS: ({ base_url }) => base_url,
              HOSTS: ({ hosts }) => hosts,
            },
            environments,
          ),
        );
      } finally {
        await store.close();
      }
    });
}
