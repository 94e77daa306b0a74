import type { FirstStart } from '../wiring/keys.ts';

/**
 * Prints the new keys and secrets for the operator; they are shown once, before anything else can fail. Machines read
 * the log lines.
 */
export function printFirstStart({ keyFile, client }: FirstStart): void {
  if (keyFile)
    print(
      `A key-encryption key was made: ${keyFile}`,
      'Keep a copy apart from the database. Without it the credentials are lost.',
    );
  if (client)
    print(
      'A first API client with all scopes was made. Its secret is shown this once; paste it into the next terminal:',
      '',
      `  export VALETKEY_CLIENT_ID=${client.id}`,
      `  export VALETKEY_CLIENT_SECRET=${client.secret.reveal()}`,
    );
}

/** Prints lines for a user, after an empty line. */
export function print(...lines: string[]): void {
  process.stderr.write(`\n${lines.join('\n')}\n`);
}
