import type { FirstStart } from '../wiring/keys.ts';

/**
 * Prints the path of the new key file and the secret of the new API client to standard error, for the operator. The
 * secret cannot be shown again, so call this function before the next step that can fail.
 */
export function printFirstStart({ keyFile, client }: FirstStart): void {
  if (keyFile)
    print(
      `A key-encryption key was created: ${keyFile}`,
      'Keep a copy apart from the database. Without it the credentials are lost.',
    );
  if (client)
    print(
      'An API client with all scopes was created. Its secret is shown only once; paste these lines into the next terminal:',
      '',
      `  export VALETKEY_CLIENT_ID=${client.id}`,
      `  export VALETKEY_CLIENT_SECRET=${client.secret.reveal()}`,
    );
}

/** Prints lines for a user, after an empty line. */
export function print(...lines: string[]): void {
  process.stderr.write(`\n${lines.join('\n')}\n`);
}
