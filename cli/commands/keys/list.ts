import type { Command } from '@commander-js/extra-typings';
import { openStorage, openVault } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';

/** `valetkey keys list`: the keys, and how many records each encrypts. */
export function configure(command: Command): void {
  command
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('keys list', 'keys list --json'))
    .action(async (options) => {
      const { config, secrets, store, rotationStore } = await openStorage();
      try {
        const ring = openVault(config, secrets).source.current();
        const keys = await Promise.all(
          ring.ids.map(async (id) => {
            return { id, active: id === ring.active.id, records: await rotationStore.countUnder(id) };
          }),
        );
        printResult(options, keys, () =>
          table(
            {
              KEY: ({ id }) => id,
              STATE: ({ active }) => (active ? 'active' : 'old'),
              RECORDS: ({ records }) => records,
            },
            keys,
          ),
        );
      } finally {
        await store.close();
      }
    });
}
