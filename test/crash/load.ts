import type { Random } from '../fuzz/random.ts';
import { createAccount } from '../support/accounts.ts';
import { TestBrowser } from '../support/browser.ts';
import type { ServerClient } from '../support/child-server.ts';
import { selectRows } from '../support/database-file.ts';
import { execute } from '../support/execute.ts';
import { returned, submitLink, VERIFY_URL, verifyUser } from '../support/links.ts';
import type { TestResponse } from '../support/server.ts';
import { importVersion } from './imports.ts';
import type { Ledger, LedgerCall } from './ledger.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

/** The things that the load uses. They are created before the first kill. */
export interface Scene {
  /** The database file, whose bytes are searched. */
  databaseFile?: string;
  /** A provider with an API key, which users can type into the form of a link. */
  keyedConnector: string;
  /** A provider with OAuth. */
  oauthConnector: string;
  /** The account that tools are run with. */
  toolAccount: string;
  /** Returns how often the provider has rotated the tokens of a grant. */
  rotationsOf(grant: string): number;
}

/** A server that is going to be killed, or several behind one address; `child.killed` ends the load. */
export interface CrashingServer extends ServerClient {
  child: { readonly killed: boolean };
}

/** The scene of a server with a database file. */
export type FileScene = Scene & { databaseFile: string };

let made = 0;

/**
 * Sends requests of every kind until the server has ended. The ledger marks each request as doubtful before it is sent,
 * and as acknowledged after its response.
 */
export async function runLoad(server: CrashingServer, scene: Scene, ledger: Ledger, random: Random): Promise<void> {
  const kinds = [create, create, update, update, remove, call, call, call, refresh, refresh, link, rotate, importTools];
  const worker = async () => {
    while (!server.child.killed) await random.pick(kinds)(server, scene, ledger, random);
  };
  // The first request without a response ends a worker.
  const ended = (error: unknown) => {
    if (!server.child.killed) ledger.faults.push(String(error));
  };
  await Promise.all(Array.from({ length: 8 }, () => worker().catch(ended)));
}

type Kind = (server: ServerClient, scene: Scene, ledger: Ledger, random: Random) => Promise<void>;

const create: Kind = async (server, { databaseFile, keyedConnector }, ledger, random) => {
  const identifier = `account-${++made}`;
  const key = random.chance(0.5) ? { key: `create-${made}` } : {};
  const account: Ledger['accounts'][number] = { identifier, state: 'doubtful', version: 0, ...key };
  ledger.accounts.push(account);
  const answer = await server.call('POST', ACCOUNTS, creation(keyedConnector, identifier, key.key));
  if (!isOk(answer, 201, ledger)) return;
  Object.assign(account, { id: answer.body.connected_account.id, state: 'there' });
  if (databaseFile === undefined) return;
  const select = 'select wrapped from data_keys where slot = (select data_key from accounts where id = ?)';
  const stored = selectRows(databaseFile, select, account.id)[0]?.['wrapped'] as Buffer | undefined;
  // The first byte is the length of the wrapped key. The bytes after the key are zeros.
  if (stored) account.mark = stored.subarray(1, 1 + stored.readUInt8()).subarray(-30);
};

/** Returns the request that creates an account. If it is sent again with the same key, it has no second effect. */
export function creation(connector: string, identifier: string, key: string | undefined) {
  const details = { api_key: `secret-key-of-${identifier}` };
  return {
    body: {
      connector,
      identifier,
      user_id: identifier,
      connected_account: { api_config: { version: 0 }, authorization_details: { static_auth: { details } } },
    },
    headers: keyHeader(key),
  };
}

function keyHeader(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'idempotency-key': key };
}

/** Returns an account that no request is changing. */
function settledAccount(ledger: Ledger, random: Random) {
  return random.pick(ledger.accounts.filter(({ state, sentVersion }) => state === 'there' && !sentVersion));
}

const update: Kind = async (server, _scene, ledger, random) => {
  const account = settledAccount(ledger, random);
  if (!account?.id) return;
  const version = ++made;
  account.sentVersion = version;
  const connected_account = { api_config: { version } };
  const answer = await server.call('PUT', ACCOUNTS, { body: { id: account.id, connected_account } });
  if (isOk(answer, 200, ledger)) account.version = version;
  delete account.sentVersion;
};

const remove: Kind = async (server, _scene, ledger, random) => {
  const account = settledAccount(ledger, random);
  if (!account?.id) return;
  account.state = 'doubtful';
  const answer = await server.call('POST', `${ACCOUNTS}:delete`, { body: { id: account.id } });
  account.state = isOk(answer, 200, ledger) ? 'deleted' : 'there';
};

const call: Kind = async (server, { toolAccount }, ledger, random) => {
  const nonce = `effect-${++made}`;
  const kind = random.pick([{ key: `call-${made}` }, {}, { isRaw: true }]);
  const entry: LedgerCall = { nonce, accountId: toolAccount, ...kind };
  ledger.calls.push(entry);
  const answer = await runCall(server, entry);
  if (isOk(answer, 200, ledger)) entry.executionId = executionOf(answer);
};

/** Makes a call whose effect at the provider has this name. */
export function runCall(server: Pick<ServerClient, 'call'>, { accountId, nonce, key, isRaw }: LedgerCall) {
  const raw = { body: { nonce }, headers: { 'valetkey-account-id': accountId } };
  if (isRaw) return server.call('POST', '/api/v1/proxy/effects', raw);
  const body = { path: '/effects', body: { nonce } };
  return execute(server, accountId, 'http_post', body, { headers: keyHeader(key) });
}

function executionOf({ body, headers }: TestResponse): string {
  return body.execution_id ?? headers['valetkey-execution-id'];
}

const refresh: Kind = async (server, { oauthConnector, rotationsOf }, ledger, random) => {
  const grant = random.chance(0.3) ? undefined : random.pick(ledger.grants.filter(({ isDoubtful }) => !isDoubtful));
  if (grant) {
    grant.isDoubtful = true;
    const answer = await useGrant(server, grant.id);
    if (!isOk(answer, 200, ledger)) return;
    ledger.readExecutions.push(executionOf(answer));
    Object.assign(grant, { isDoubtful: false, rotations: rotationsOf(grant.name) });
    return;
  }
  const name = `grant${++made}`;
  const oauth_token = { access_token: `${name}-0`, refresh_token: `${name}.0` };
  const connectedAccount = { authorization_details: { oauth_token } };
  const { id } = await createAccount(server, { connector: oauthConnector, identifier: name, connectedAccount });
  ledger.grants.push({ id, name, isDoubtful: false, rotations: 0 });
};

/** Calls the provider with the access token of a grant. A token is valid for one second, so many calls refresh it. */
export function useGrant(server: Pick<ServerClient, 'call'>, accountId: string) {
  return execute(server, accountId, 'http_get', { path: '/me' });
}

const link: Kind = async (server, { keyedConnector }, ledger) => {
  const identifier = `linked-${++made}`;
  const body = { connector: keyedConnector, user_id: identifier, identifier, user_verify_url: VERIFY_URL };
  const answer = await server.call('POST', `${ACCOUNTS}/magic_link`, { body });
  if (!isOk(answer, 200, ledger)) return;
  const page = await submitLink(new TestBrowser(), answer.body.link, { api_key: `secret-key-of-${identifier}` });
  ledger.doubtfulLinks.add(identifier);
  const verified = await verifyUser(server, returned(page).authRequestId, identifier);
  if (!isOk(verified, 200, ledger)) return;
  ledger.doubtfulLinks.delete(identifier);
  ledger.linked.add(identifier);
};

const rotate: Kind = async (server, _scene, ledger) => {
  // Only one rotation runs at a time, because the order of two concurrent rotations is not known.
  if (ledger.secrets.length !== 1) return;
  ledger.secrets.push('unknown');
  const path = `/api/v1/api_clients/${ledger.clientId}:rotate_secret`;
  const answer = await server.call('POST', path, { body: { overlap_seconds: 0 } });
  if (isOk(answer, 200, ledger)) ledger.secrets = [answer.body.client_secret];
};

const importTools: Kind = async (server, _scene, ledger) => {
  if (ledger.imports.length !== 1) return;
  const version = ++made;
  ledger.imports.push(version);
  if (isOk(await importVersion(server, version), 200, ledger)) ledger.imports = [version];
};

/** Counts acknowledged requests. Any other response is a bug of the server, because only kills happen to it. */
function isOk(answer: TestResponse, status: number, ledger: Ledger): boolean {
  if (answer.status !== status) ledger.faults.push(answer.text);
  else ledger.acknowledged++;
  return answer.status === status;
}
