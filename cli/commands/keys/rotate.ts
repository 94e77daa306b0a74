import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { verifyKeyChecks } from '../../../core/vault/key-check.ts';
import { introduceKey } from '../../../core/vault/key-lifecycle.ts';
import { rewrapAll } from '../../../core/vault/rotate.ts';
import { EXIT } from '../../exit-codes.ts';
import { openStorage, openVault } from '../../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, note, printResult, shown } from '../../output/print.ts';
import { createProgress } from '../../output/progress.ts';

/**
 * How long to wait after a change of the key file. A running server loads it within 250 ms, but data that it encrypted
 * before may not be written to the database yet.
 */
const NOTICE_MS = 1_000;

type Opened = Awaited<ReturnType<typeof openStorage>>;

/** `valetkey keys rotate`: works while a server is running, which loads a changed key file automatically. */
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

async function rotate({ config, secrets, rotationStore }: Opened, options: { json?: true | undefined }): Promise<void> {
  const before = openVault(config, secrets).source.current();
  await verifyKeyChecks(before, rotationStore, Date.now());
  const lines: string[] = [];
  if (secrets.keys) {
    lines.push('The keys come from VALETKEY_KEYS: put a new key first there, restart the server, then run this again.');
  } else {
    const id = await introduceKey(config.keysFile, rotationStore, randomBytes, Date.now());
    lines.push(shown`New active key: ${id}`);
    await setTimeout(NOTICE_MS);
  }
  const { source, vault } = openVault(config, secrets);
  const { active } = source.current();
  const progress = createProgress({ unit: 'records' });
  const { done, failed, remaining } = await rewrapAll(vault, source.current(), rotationStore, {
    onProgress: (state) => progress.report(state.done, state.total, state.kekId),
  }).finally(progress.end);
  for (const { item, error } of failed)
    note`Not opened: ${item.context.table} ${item.context.recordId} (${error.code}); it keeps its old key.`;
  lines.push(`${done} records brought under ${active.id}.`);
  if (remaining === 0)
    lines.push(
      'Every record is under the active key. After a minute, retire the old ones: valetkey keys retire <key id>',
    );
  const result = { active_key: active.id, records: done, remaining, failed: failed.length };
  printResult(options, result, () => lines.join('\n'));
  if (remaining === 0) return;
  note`${remaining} records are still under an old key. Run the command again.`;
  process.exitCode = EXIT.failed;
}
