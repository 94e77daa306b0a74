import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import { Secret } from '../../core/secret.ts';
import { UsageError } from '../usage-error.ts';

/** Secrets are never arguments, because other users of the machine can read the arguments of a process. */
export const SECRET_PROMPT = new Option('--client-secret', 'ask for the client secret, or read it from standard input');
export const SECRET_FILE = new Option('--client-secret-file <file>', 'a file with the client secret').conflicts(
  'clientSecret',
);

/**
 * Returns the client secret that the options ask for: typed at a terminal without echo, or read from standard input or
 * a file. Returns undefined if neither option was given.
 *
 * @throws UsageError if the secret is empty
 */
export async function readSecret(options: {
  clientSecret?: true | undefined;
  clientSecretFile?: string | undefined;
}): Promise<Secret | undefined> {
  if (options.clientSecretFile !== undefined) return required(readFileSync(options.clientSecretFile, 'utf8'));
  if (!options.clientSecret) return undefined;
  return required(process.stdin.isTTY ? await prompt('Client secret: ') : await readAll(process.stdin));
}

function required(text: string): Secret {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '')
    throw new UsageError('the client secret is empty: type it, pipe it, or name its file with --client-secret-file');
  return new Secret(secret);
}

/** Asks for the secret on the terminal without showing what is typed. */
function prompt(question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // The prompt appears only after echo is turned off.
  process.stderr.write(question);
  return new Promise((resolve) => {
    lines.once('line', resolve).once('SIGINT', () => resolve(''));
    lines.once('close', () => resolve(''));
  }).then((answer) => {
    lines.close();
    process.stderr.write('\n');
    return answer as string;
  });
}
