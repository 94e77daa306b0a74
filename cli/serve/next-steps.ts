import { print } from '../first-start.ts';

/**
 * Prints the first commands to try.
 *
 * @param origin of the server
 * @param hasClientAtHand whether the operator has the secret of an API client
 * @param isShared whether several servers can use the database; then `valetkey init` creates API clients
 */
export function printNextSteps(origin: string, hasClientAtHand: boolean, isShared: boolean): void {
  if (!hasClientAtHand)
    print(
      `An API client already exists. If you do not have its secret, ${isShared ? 'run `valetkey init`' : 'start once'} with a`,
      `VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET: ${isShared ? 'it' : 'the server'} then adds that client.`,
    );
  print(
    'Next, in another terminal (the quickstart of README.md continues from here):',
    '',
    `  TOKEN=$(curl -s ${origin}/oauth/token -d grant_type=client_credentials \\`,
    '    -d "client_id=$VALETKEY_CLIENT_ID" -d "client_secret=$VALETKEY_CLIENT_SECRET" \\',
    `    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `  curl -s ${origin}/api/v1/providers -H "Authorization: Bearer $TOKEN"`,
    '',
    `The API reference is at ${origin}/docs, and the guides are at ${origin}/docs/guides`,
  );
}
