import type { Jobs } from '../../core/jobs/jobs.ts';
import { createJobs } from '../../wiring/jobs.ts';
import type { Parts } from '../../wiring/parts.ts';
import { createPinnedFetch } from '../../wiring/pinned-fetch.ts';
import { createAccount } from './accounts.ts';
import { createConnection, createProvider } from './providers.ts';
import type { TestServer } from './server.ts';

/** The public address of the provider in these tests. */
export const AS_ORIGIN = 'https://as.acme.example';
export const CLIENT = { client_id: 'client-1', client_secret: 'secret-of-client-1' };
/** The default authentication of that client. */
export const BASIC = `Basic ${Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString('base64')}`;

/** Jobs that are stored but not run. A test can run them with `startWorker`. */
export const ORDERED_ONLY: Jobs = {
  start: () => {},
  soon: () => {},
  retry: async () => undefined,
  runDue: async () => {},
  stop: async () => {},
};

export interface RevocationResult {
  id: string;
  connected_account_id: string;
  provider: string;
  status: string;
  reason: string;
  attempts: number;
  created_at: string;
  updated_at: string;
}

/** Returns the revocations of an account that the server lists, newest first. */
export async function revocationsOf(server: Pick<TestServer, 'call'>, accountId: string): Promise<RevocationResult[]> {
  const { status, text, body } = await server.call('GET', `/api/v1/revocations?connected_account_id=${accountId}`);
  if (status !== 200) throw new Error(`revocations were not listed: ${text}`);
  return body.revocations;
}

/** Creates a provider, and a connection with a client of it. */
export async function oauthConnector(
  server: Pick<TestServer, 'call'>,
  config: Record<string, unknown> = {},
  client: Record<string, unknown> = CLIENT,
) {
  const addresses = {
    authorize_uri: `${AS_ORIGIN}/authorize`,
    token_uri: `${AS_ORIGIN}/token`,
    revocation_uri: `${AS_ORIGIN}/revoke`,
    ...config,
  };
  const { identifier } = await createProvider(server, {
    auth_patterns: [{ type: 'OAUTH', oauth_config: addresses }],
  });
  const { id, key_id } = await createConnection(server, { connector: identifier, ...client });
  return { provider: identifier, connectionId: id as string, connector: key_id as string };
}

let made = 0;

/** Creates an account with its own tokens. */
export async function tokenAccount(
  server: Pick<TestServer, 'call'>,
  connector: string,
  more: Record<string, unknown> = {},
) {
  made += 1;
  const oauth_token = { access_token: `at-${made}`, refresh_token: `rt-${made}`, ...more };
  const connectedAccount = { authorization_details: { oauth_token } };
  const { id } = await createAccount(server, { connector, connectedAccount });
  return { id, access: `at-${made}`, refresh: `rt-${made}` };
}

export async function leave(
  server: Pick<TestServer, 'call'>,
  id: string,
  how: 'delete' | 'disconnect' = 'delete',
): Promise<void> {
  const answer = await server.call('POST', `/api/v1/connected_accounts:${how}`, { body: { id } });
  if (answer.status !== 200) throw new Error(`${how}: ${answer.text}`);
}

/** Creates a worker that runs the jobs of a server only when a test calls `run`. */
export function startWorker({ parts }: Pick<TestServer, 'parts'>, more: Partial<Parts> = {}) {
  const used = { ...parts, ...more };
  const { runDue: run, stop } = createJobs({ ...used, fetchFor: createPinnedFetch(used) }, []);
  return { run, stop };
}
