import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds } from '../../core/ids.ts';
import type {
  LoginRequest,
  NewAccount,
  NewAuthFlow,
  NewAuthRequest,
  NewConnection,
  NewCustomProvider,
  NewEnvironmentTool,
  NewJob,
  NewLoginProvider,
  NewOAuthClient,
  NewOAuthGrant,
  NewOAuthLogin,
  NewOperatorSession,
  NewPortalSession,
  NewStoredContent,
  NewToolOverlay,
  PendingGrant,
  Store,
  WebhookEndpointRow,
} from '../../db/store.ts';
import { type EnvironmentId, environmentId } from '../../db/store.ts';
import { rehearsed } from '../support/rehearsed-store.ts';
import { createTestDatabase } from './engine.ts';
import type { TestDatabase, TestOptions } from './test-database.ts';

export const NOW = 1_750_000_000_000;

/** Limits that are high enough for everything that a test sweeps. */
export const PIECE = { rows: 100, bytes: Number.MAX_SAFE_INTEGER };

/** Creates ids with a clock that advances by a millisecond per id, so that ids are in the order of calls. */
export function freshIds() {
  let clock = NOW;
  return createIds(() => clock++, randomBytes);
}

/** Creates a separate directory for a test; the returned function removes it. */
export function temporaryDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'valetkey-db-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface TestStore {
  store: Store;
  database: TestDatabase;
  /** The path of the file, for tests of the SQLite engine. */
  file: string;
  env: EnvironmentId;
  newId: ReturnType<typeof createIds>;
  /** Registers an instance. @returns its number */
  register: (id: string) => Promise<number>;
  end: () => Promise<void>;
}

/**
 * Opens a store on its own database, with one environment and one connection `github`. Each unit of work runs twice,
 * and its first run is rolled back.
 */
export async function openTestStore(options: TestOptions = {}): Promise<TestStore> {
  return openSharedTestStore(options, rehearsed);
}

/** Opens a store as `openTestStore` does, but its units of work run only once: for tests that examine a single run. */
export async function openSharedTestStore(
  options: TestOptions = {},
  adapt = (store: Store): Store => store,
): Promise<TestStore> {
  const database = createTestDatabase();
  const store = adapt(await database.open(options));
  const newId = freshIds();
  const env = await addEnvironment(store, newId, 'localhost');
  await addConnection(store, env, connection(newId));
  const test: TestStore = {
    store,
    database,
    file: database.location,
    env,
    newId,
    register: (id) => store.write((tx) => tx.instances.register({ id, version: '0.0.0', startedAt: NOW, beatAt: NOW })),
    end: async () => {
      // Closes `test.store`, because a test may have replaced the first store. If a store stayed open, a connection
      // pooler would try forever to connect it to the removed database.
      await test.store.close();
      database.remove();
    },
  };
  return test;
}

/** Adds check values of key-encryption keys. A row can only name a key whose check value is stored. */
export async function addKeyChecks(store: Store, ...kekIds: string[]) {
  for (const kekId of kekIds) {
    const check = { kekId, checkValue: Buffer.alloc(32), createdAt: NOW };
    await store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check));
  }
}

export async function addEnvironment(store: Store, newId: TestStore['newId'], ...hosts: string[]) {
  const id = environmentId(newId('env'));
  const row = { id, kind: 'DEVELOPMENT' as const, baseUrl: `http://${hosts[0]}`, settings: {}, createdAt: NOW, hosts };
  await store.write((tx) => tx.environments.insert(row));
  return id;
}

export async function addConnection(store: Store, env: EnvironmentId, row: NewConnection) {
  await store.write((tx) => tx.connections.insert(env, row));
  return row.id;
}

export function connection(newId: TestStore['newId'], over: Partial<NewConnection> = {}): NewConnection {
  return {
    id: newId('conn'),
    keyId: 'github',
    providerKey: 'github',
    type: 'OAUTH',
    status: 'COMPLETED',
    verificationMode: 'REQUIRED',
    createdAt: NOW,
    updatedAt: NOW,
    ...over,
  };
}

/** A tool of the provider `mine`. Its definition is invalid, but the storage does not read definitions. */
export function tool(name: string, over: Partial<NewEnvironmentTool> = {}): NewEnvironmentTool {
  return { name, connector: 'mine', source: 'custom', sourceId: null, definition: { name }, at: NOW, ...over };
}

export function webhookEndpoint(id: string): Omit<WebhookEndpointRow, 'environmentId'> {
  return {
    id,
    url: 'https://app.example/webhooks',
    description: '',
    eventTypes: [],
    ordered: false,
    algorithm: 'HMAC_SHA256',
    secrets: [{ id: 'sec_1', publicKey: null, createdAt: NOW, expiresAt: null }],
    enabled: true,
    disabledReason: '',
    failingSince: null,
    createdAt: NOW,
    updatedAt: NOW,
  };
}

/** More tools than the cache of the SQLite connection can hold, so that some are in the log before their commit. */
export function manyTools(): NewEnvironmentTool[] {
  const definition = { description: 'x'.repeat(10_000) };
  return Array.from({ length: 600 }, (_, index) => tool(`mine_${index}`, { definition }));
}

export async function totalOfAccounts({ store, env }: Pick<TestStore, 'store' | 'env'>): Promise<number> {
  return (await store.read.accounts.list(env, {}, { size: 1 })).total;
}

export async function github({ store, env }: Pick<TestStore, 'store' | 'env'>): Promise<string> {
  return (await store.read.connections.byKeyId(env, 'github'))?.id ?? '';
}

export function account(newId: TestStore['newId'], connectionId: string, over: Partial<NewAccount> = {}): NewAccount {
  const id = newId('ca');
  return {
    id,
    connectionId,
    connector: 'github',
    provider: 'github',
    organizationId: '',
    userId: 'user_1',
    identifier: `${id}@example.com`,
    authorizationType: 'OAUTH',
    status: 'ACTIVE',
    createdAt: NOW,
    updatedAt: NOW,
    ...over,
  };
}

/** An open request whose link is `link <number of the id>`; it expires at NOW. */
export function authRequest(
  id: string,
  accountId: string,
  connectionId: string,
  over: Partial<NewAuthRequest> = {},
): NewAuthRequest {
  return {
    id,
    accountId,
    connectionId,
    linkDigest: digest(`link ${id.split('_')[1]}`),
    linkExpiresAt: NOW,
    identifier: 'octocat',
    userVerifyUrl: 'https://app.example/verify',
    callerState: null,
    language: null,
    createdAt: NOW,
    expiresAt: NOW,
    ...over,
  };
}

/** A grant sealed with the key `kek_1`. */
export function grant(requestId: string, over: Partial<PendingGrant> = {}): PendingGrant {
  const sealed = { wrappedDataKey: Buffer.from('key'), kekId: 'kek_1', pendingSealed: Buffer.from('pending') };
  return { requestDigest: digest(requestId), origins: [], ...sealed, expiresAt: NOW, ...over };
}

/** A flow whose state is `state`. */
export function authFlow(requestId: string, connectionId: string, over: Partial<NewAuthFlow> = {}): NewAuthFlow {
  return {
    stateDigest: digest('state'),
    requestId,
    connectionId,
    browserDigest: digest('browser'),
    keptSealed: Buffer.from('kept'),
    createdAt: NOW,
    expiresAt: NOW + 1000,
    ...over,
  };
}

/** A due job, sealed with the key `kek_1`. */
export function job(id: string, subjectId: string, over: Partial<NewJob> = {}): NewJob {
  const sealed = { kekId: 'kek_1', wrappedDataKey: Buffer.from('key'), payloadSealed: Buffer.from('payload') };
  const times = { runAt: NOW, giveUpAt: NOW + 1000, createdAt: NOW };
  return { id, kind: 'revocation', lane: 'github', subjectId, ...sealed, ...times, ...over };
}

/** Returns the lane (the queue) of the jobs that `job` creates. */
export function laneOf(environmentId: EnvironmentId) {
  return { environmentId, kind: 'revocation', lane: 'github' };
}

export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns the error of a promise, which must reject. */
export async function failure(promise: Promise<unknown>): Promise<Error & { code?: string; constraint?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected a rejection');
}

export function storedContent(id: string, accountId: string, parts: Partial<NewStoredContent> = {}): NewStoredContent {
  return {
    id,
    kind: 'file',
    accountId,
    organizationId: '',
    userId: 'user_1',
    size: 7,
    kekId: 'kek_1',
    wrappedDataKey: Buffer.from('wrapped'),
    sealed: Buffer.from('sealed'),
    createdAt: NOW,
    expiresAt: NOW + 1000,
    ...parts,
  };
}

export function oauthClient(id: string, parts: Partial<NewOAuthClient> = {}): NewOAuthClient {
  return {
    id,
    kind: 'DYNAMIC',
    name: 'Client',
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    secretDigest: null,
    refreshes: true,
    originDigest: digest('address'),
    createdAt: NOW,
    ...parts,
  };
}

/** A login whose first secret is `login <number>`. */
export function oauthLogin(id: string, parts: Partial<NewOAuthLogin> = {}): NewOAuthLogin {
  const request: LoginRequest = {
    clientId: 'ocl_1',
    clientName: 'Client',
    clientKind: 'DYNAMIC',
    serverId: 'conn_1',
    scopes: ['tools:read'],
    redirectUri: 'http://127.0.0.1/callback',
    codeChallenge: 'challenge',
    state: null,
    refreshes: true,
    asksConsent: false,
  };
  const tokenDigest = digest(`login ${id.split('_')[1]}`);
  return {
    id,
    tokenDigest,
    browserDigest: digest('browser'),
    request,
    createdAt: NOW,
    expiresAt: NOW + 1000,
    ...parts,
  };
}

export function loginProvider(id: string, parts: Partial<NewLoginProvider> = {}): NewLoginProvider {
  return {
    id,
    type: 'JWT',
    issuer: 'https://login.example',
    claims: { identifier: 'sub', userId: 'sub', organizationId: null },
    allowedOrganizations: null,
    userVerifyUrl: null,
    oidc: null,
    jwt: { audiences: [], clientIds: null, algorithms: ['RS256'], scopes: [] },
    wrappedDataKey: null,
    kekId: null,
    clientSecretSealed: null,
    createdAt: NOW,
    updatedAt: NOW,
    ...parts,
  };
}

/** A session whose one-time URL has the secret `portal <number>`. */
export function portalSession(id: string): NewPortalSession {
  return {
    id,
    tokenDigest: digest(`portal ${id.split('_')[1]}`),
    organizationId: '',
    userId: 'user_1',
    identifier: 'ada',
    userVerifyUrl: null,
    returnUrl: null,
    language: null,
    apiClientId: 'cli_1',
    createdAt: NOW,
    expiresAt: NOW + 1000,
  };
}

export function toolOverlay(toolName: string, parts: Partial<NewToolOverlay> = {}): NewToolOverlay {
  return {
    toolName,
    newName: null,
    settings: { hidden: true, title: null, addedDescription: null, presetInputs: {}, allowedValues: {} },
    toolDigest: 'x',
    createdAt: NOW,
    updatedAt: NOW,
    ...parts,
  };
}

export function customProvider(identifier: string): NewCustomProvider {
  return { id: 'prv_1', identifier, definition: {}, isMcp: false, createdAt: NOW, updatedAt: NOW };
}

export function oauthGrant(id: string, parts: Partial<NewOAuthGrant> = {}): NewOAuthGrant {
  return {
    id,
    clientId: 'ocl_1',
    clientName: 'Client',
    clientKind: 'DYNAMIC',
    redirectHost: '127.0.0.1',
    serverId: 'conn_1',
    organizationId: '',
    userId: 'user_1',
    identifier: 'ada',
    userVerifyUrl: null,
    scopes: ['tools:read'],
    identifiedBy: 'cli_1',
    generation: 1,
    retiredAt: [],
    createdAt: NOW,
    usedAt: NOW,
    expiresAt: NOW + 1000,
    ...parts,
  };
}

/** An unused one-time address, whose secret is `session <number>`. */
export function operatorSession(id: string, parts: Partial<NewOperatorSession> = {}): NewOperatorSession {
  return {
    id,
    state: 'OFFERED',
    operator: 'ada',
    role: 'OWNER',
    tokenDigest: digest(`session ${id.split('_')[1]}`),
    createdAt: NOW,
    usedAt: null,
    expiresAt: NOW + 1000,
    ...parts,
  };
}
