import type { Command } from '@commander-js/extra-typings';
import { verifyKeyChecks } from '../../../core/vault/key-check.ts';
import { rewrapAll } from '../../../core/vault/rotate.ts';
import { EXIT } from '../../exit-codes.ts';
import { openStorage, openVault } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, note, printResult, shown } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';
import { type Preparation, prepareKey } from './prepare-key.ts';

type Opened = Awaited<ReturnType<typeof openStorage>>;

/**
 * `valetkey keys rotate`: makes a new active key, unless the keys come from VALETKEY_KEYS, and encrypts the data keys
 * of all records with the active key. It works while a server is running, which loads a changed key file automatically.
 */
export function configure(command: Command): void {
  command
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('keys rotate', 'keys rotate --json'))
    .action(async (options) => {
      const opened = await openStorage();
      try {
        await rotate(opened, options);
      } finally {
        await opened.store.close();
      }
    });
}

async function rotate(opened: Opened, options: { json?: true | undefined }): Promise<void> {
  const { config, secrets, rotationStore } = opened;
  const before = openVault(config, secrets).source.current();
  await verifyKeyChecks(before, rotationStore, Date.now());
  const lines: string[] = [];
  if (secrets.keys) {
    lines.push(
      'The keys come from VALETKEY_KEYS, so no new key was made. To use a new key, add it there as the last line and restart all servers, then move it to the first line and restart them again, then repeat this command.',
    );
  } else {
    const prepared = await prepareKey(opened);
    if (prepared.kind === 'waiting') return waitForServers(prepared, config.keysFile, options);
    if (prepared.id !== null) lines.push(shown`New active key: ${prepared.id}`);
  }
  const { source, vault } = openVault(config, secrets);
  const progress = createProgress({ unit: 'records' });
  const { done, failed, remaining } = await rewrapAll(vault, source, rotationStore, {
    onProgress: (state) => progress.report(state.done, state.total, state.kekId),
  }).finally(progress.end);
  for (const { item, error } of failed)
    note`Cannot be decrypted: ${item.context.table} ${item.context.recordId} (${error.code}); it keeps its old key.`;
  const { active } = source.current();
  lines.push(`${done} records are now encrypted under ${active.id}.`);
  if (remaining === 0)
    lines.push(
      'Every record is encrypted under the active key. After a minute, retire the old ones: valetkey keys retire <key id>',
    );
  const result = { active_key: active.id, records: done, remaining, failed: failed.length };
  printResult(options, result, () => lines.join('\n'));
  if (remaining === 0) return;
  note`${remaining} records are still under an old key. Run the command again.`;
  process.exitCode = EXIT.failed;
}

/** Reports that the new key cannot become active yet. */
function waitForServers(
  { id, servers }: Extract<Preparation, { kind: 'waiting' }>,
  keysFile: string,
  options: { json?: true | undefined },
): void {
  const names = servers.map((server) => server.id);
  printResult(options, { standby_key: id, servers_without_it: names }, () => shown`Standby key: ${id}`);
  note`These running servers do not have it yet: ${names.join(', ')}.`;
  note`Copy ${keysFile} to their machines, and run the command again. The key is not used for encryption until then.`;
  process.exitCode = EXIT.failed;
}
