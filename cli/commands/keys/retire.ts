import type { Command } from '@commander-js/extra-typings';
import { runningServers, serversBehind } from '../../../core/keys/server-keys.ts';
import { retireKey } from '../../../core/vault/key-lifecycle.ts';
import { openStorage, openVault } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../../output/print.ts';

/** `valetkey keys retire`: removes an old key. A running server loads the changed key file automatically. */
export function configure(command: Command): void {
  command
    .argument('<key-id>', 'an old key of `valetkey keys list` that encrypts no records')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('keys retire kek_01k6p4a2b3c4d5e6f7g8h9j0km'))
    .action(async (id, options) => {
      const { config, secrets, store, rotationStore } = await openStorage();
      try {
        const ring = openVault(config, secrets).source.current();
        const keyFile = secrets.keys ? undefined : config.keysFile;
        const behind = serversBehind(ring, await runningServers(store)).length;
        await retireKey(id, { ring, store: rotationStore, keyFile, now: Date.now(), serversBehind: behind });
        printResult(options, { id, removed_from: keyFile ?? null }, () =>
          keyFile === undefined
            ? shown`Remove ${id} from VALETKEY_KEYS now.`
            : shown`${id} was removed from ${keyFile}.`,
        );
      } finally {
        await store.close();
      }
    });
}
