import { createInterface } from 'node:readline/promises';
import { UsageError } from '../usage-error.ts';
import { shown } from './print.ts';

/**
 * Asks before something is deleted. @throws UsageError if the user does not confirm, or if there is no terminal to ask
 */
export async function confirm(question: string, { yes }: { yes?: true | undefined }): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new UsageError('nothing was done: there is no terminal to ask for confirmation; add --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${shown`${question}`} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was done: the question was not confirmed');
}
