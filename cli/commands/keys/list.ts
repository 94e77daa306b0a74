import type { Command } from '@commander-js/extra-typings';
import { standbyKey } from '../../../core/vault/key-lifecycle.ts';
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
        const standby = await standbyKey(ring, rotationStore);
        const keys = await Promise.all(
          ring.ids.map(async (id) => {
            const [active, records] = [id === ring.active.id, await rotationStore.countUnder(id)];
            return { id, active, standby: id === standby, records };
          }),
        );
        printResult(options, keys, () =>
          table(
            {
              KEY: ({ id }) => id,
              STATE: ({ active, standby }) => (active ? 'active' : standby ? 'standby' : 'old'),
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
