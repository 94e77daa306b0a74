import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bindTo } from '../../../core/accounts/binding.ts';
import { openCredentials, sealCredentials } from '../../../core/accounts/credentials.ts';
import { createRefresher, type RefreshDeps, type Refresher } from '../../../core/accounts/refresh.ts';
import type { AuthorizationType } from '../../../core/authorization/type.ts';
import { bindClient } from '../../../core/connections/client-binding.ts';
import { sealClient } from '../../../core/connections/client-secret.ts';
import type { AuthPattern, OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { builtInProvider, type Connector } from '../../../core/connectors/provider.ts';
import type { Cause } from '../../../core/events/events.ts';
import { createIds } from '../../../core/ids.ts';
import { createDiscovery } from '../../../core/oauth/discovery.ts';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { Secret } from '../../../core/secret.ts';
import { openStore } from '../../../db/open-store.ts';
import { type AccountRow, type EnvironmentId, environmentId, type Store } from '../../../db/store.ts';
import { testEvents } from '../../support/events.ts';
import { writeMigratedDatabase } from '../../support/migrated-database.ts';
import { ringOf, seededRandom, vaultOf } from '../vault/support.ts';

export const START = 1_750_000_000_000;
export const HOUR = 3_600_000;
const KEY = 'kek_refreshtest';
const TOKEN_URI = 'https://as.example/token';

/** A test clock. Waiting advances it after all other work, including that of the disk, is done. */
class TestClock {
  at = START;
  /** Resolves when all earlier writes are durable. */
  settled: () => Promise<unknown> = async () => {};
  readonly now = () => this.at;
  readonly wait = async (ms: number): Promise<void> => {
    if (ms === Number.POSITIVE_INFINITY) return new Promise(() => {});
    this.at += ms;
    await this.settled();
    await new Promise((resolve) => setImmediate(resolve));
  };
}

/** A provider with one grant: each refresh token works once, and one that is used twice ends the grant. */
export class RotatingProvider {
  requests = 0;
  alive = true;
  refreshToken: string;
  accessToken = 'at-0';
  expiresIn: unknown = 3600;
  /** `before` is called before a request is processed, and `after` before its response is sent. */
  before: () => Promise<unknown> = async () => {};
  after: () => Promise<unknown> = async () => {};
  readonly #spent = new Set<string>();
  readonly #name: string;

  constructor(name = 'rt') {
    this.#name = name;
    this.refreshToken = `${name}-0`;
  }

  readonly fetch: ProtocolFetch = async (_url, init) => {
    this.requests++;
    await this.before();
    const given = new URLSearchParams(String(init?.body)).get('refresh_token') ?? '';
    const answer = this.#answer(given);
    await this.after();
    return answer;
  };

  #answer(given: string): Response {
    if (this.#spent.has(given)) this.alive = false;
    if (!this.alive || given !== this.refreshToken) return Response.json({ error: 'invalid_grant' }, { status: 400 });
    this.#spent.add(given);
    this.refreshToken = `${this.#name}-${this.#spent.size}`;
    this.accessToken = `at-${this.#spent.size}`;
    const { accessToken: access_token, refreshToken: refresh_token, expiresIn: expires_in } = this;
    return Response.json({ access_token, refresh_token, expires_in, token_type: 'Bearer' });
  }
}

/** One process: a refresher with its own store on the shared file. */
export interface Process {
  store: Store;
  refresher: Refresher;
}

export interface World {
  /** The database that all processes share. */
  file: string;
  env: EnvironmentId;
  accountId: string;
  clock: TestClock;
  /** The log messages. */
  logged: string[];
  cause: Cause;
  /** Starts a process with its own store, unless one is given. */
  start(fetch: ProtocolFetch, more?: Partial<RefreshDeps>): Promise<Process>;
  /** Adds an account of the same connection with the same tokens. */
  addAccount(identifier: string): Promise<string>;
  account(id?: string): Promise<AccountRow>;
  tokens(account?: AccountRow): Promise<Record<string, unknown>>;
  /** Stores other tokens under the next generation, as a new authorization or an update does. */
  replaceTokens(tokens: Record<string, unknown>, id?: string, origins?: string[]): Promise<void>;
  audit(): Promise<{ action: string; details: unknown }[]>;
  end(): Promise<void>;
}

export interface WorldOptions {
  type?: AuthorizationType;
  tokens?: Record<string, unknown>;
  /** Milliseconds after the start; null for a token without a known end. */
  expiresIn?: number | null;
  oauth?: OAuthConfig;
  origins?: string[];
  client?: { id?: string | null; secret?: string | null };
  enabled?: boolean;
  isMcp?: boolean;
}

export function acme({ type = 'OAUTH', oauth = {}, isMcp = false }: WorldOptions): Connector {
  return {
    identifier: 'acme',
    display_name: 'Acme',
    description: 'An application.',
    categories: [],
    display_priority: 0,
    vendor: 'CUSTOM',
    documentation_url: 'https://acme.example',
    verified_on: '2026-01-01',
    confidence: 'high',
    sources: [],
    api: { base_url: 'https://api.acme.example' },
    auth_patterns: [{ type, is_mcp: isMcp, oauth_config: { token_uri: TOKEN_URI, ...oauth } }],
  };
}

/** Creates an environment with one connection and one account, whose token expires an hour after the start. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const { type = 'OAUTH', expiresIn = HOUR, client = {} } = options;
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-refresh-'));
  const file = join(directory, 'test.db');
  writeMigratedDatabase(file);
  const clock = new TestClock();
  const newId = createIds(clock.now, seededRandom('ids'));
  const store = await openStore({ location: file, now: clock.now });
  const stores = [store];
  clock.settled = () => Promise.allSettled(stores.map((one) => one.write(async () => {})));
  let processes = 0;
  const env = environmentId(newId('env'));
  const [connectionId, accountId] = [newId('conn'), newId('ca')];
  const origins = options.origins ?? ['https://api.acme.example', 'https://as.example'];
  const vault = vaultOf(ringOf(KEY), 'setup');
  const times = { createdAt: START, updatedAt: START };
  const secret = client.secret === undefined ? 's3cret-of-the-client' : client.secret;
  const sealed = secret === null ? null : new Secret(secret);
  const provider = builtInProvider(acme(options));
  const pattern = provider.authPatterns[0] as AuthPattern;
  const terms = bindClient(provider, pattern, null);
  await store.write(async (tx) => {
    await tx.deploymentSecrets.insertKeyCheckIfAbsent({ kekId: KEY, checkValue: Buffer.alloc(32), createdAt: START });
    await tx.environments.insert({
      id: env,
      kind: 'DEVELOPMENT',
      baseUrl: 'http://localhost',
      settings: {},
      createdAt: START,
      hosts: ['localhost'],
    });
    await tx.connections.insert(env, {
      id: connectionId,
      keyId: 'acme',
      providerKey: 'acme',
      type,
      status: 'COMPLETED',
      verificationMode: 'REQUIRED',
      enabled: options.enabled ?? true,
      clientId: client.id === undefined ? 'app' : client.id,
      ...sealClient(vault, { environmentId: env, id: connectionId, clientGeneration: 0 }, sealed, terms),
      ...times,
    });
  });
  const given = options.tokens ?? { access_token: 'at-0', refresh_token: 'rt-0', scopes: ['a', 'b'] };
  const insert = async (id: string, identifier: string) => {
    const { binding } = bindTo({ provider, pattern }, {}, { oauth_token: given }, {});
    const place = { environmentId: env, id, credentialGeneration: 1, origins, binding };
    const row = {
      id,
      connectionId,
      connector: 'acme',
      provider: 'acme',
      identifier,
      authorizationType: type,
      status: 'ACTIVE' as const,
      tokenExpiresAt: expiresIn === null ? null : START + expiresIn,
      publicDetails: { oauth_token: { scopes: ['a', 'b'] } },
      origins,
      binding,
      credentialGeneration: 1,
      ...sealCredentials(vault, place, { oauth_token: given }),
      ...times,
    };
    await store.write((tx) => tx.accounts.insert(env, row));
  };
  await insert(accountId, 'alice');
  const logged: string[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const account = async (id = accountId) => {
    const row = await store.read.accounts.get(env, id);
    if (!row) throw new Error('The account is gone');
    return row;
  };
  return {
    env,
    accountId,
    clock,
    file,
    logged,
    cause: { environmentId: env, actor: 'cli_test', requestId: 'req_test' },
    async start(fetch, more = {}) {
      const process = await startProcess({ file, name: `process ${++processes}`, now: clock.now, options }, fetch, {
        wait: clock.wait,
        log: { warn: log('warn'), error: log('error') },
        ...more,
      });
      if (!more.store) stores.push(process.store);
      return process;
    },
    account,
    tokens: async (row) => openCredentials(vault, row ?? (await account()), row ?? (await account())).oauth_token ?? {},
    async addAccount(identifier) {
      const id = newId('ca');
      await insert(id, identifier);
      return id;
    },
    async replaceTokens(tokens, id = accountId, moved = origins) {
      await store.write(async (tx) => {
        const row = (await tx.accounts.get(env, id)) as AccountRow;
        const credentialGeneration = row.credentialGeneration + 1;
        await tx.accounts.update(env, id, row.version, {
          ...sealCredentials(vault, { ...row, credentialGeneration, origins: moved }, { oauth_token: tokens }),
          credentialGeneration,
          origins: moved,
          status: 'ACTIVE',
          tokenExpiresAt: null,
          updatedAt: clock.at,
        });
      });
    },
    async audit() {
      const page = await store.read.audit.list(env, { size: 100 });
      return page.rows.map(({ action, details }) => ({ action, details }));
    },
    async end() {
      for (const one of stores) await one.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface ProcessParts {
  file: string;
  /** Makes its random bytes differ from those of other processes. */
  name: string;
  now: () => number;
  /** The options of the world that describe its provider. */
  options: WorldOptions;
}

/** Starts one process of the service that refreshes accounts, here or in a child process. */
export async function startProcess(
  { file, name, now, options }: ProcessParts,
  fetch: ProtocolFetch,
  more: Partial<RefreshDeps> & Pick<RefreshDeps, 'wait'>,
): Promise<Process> {
  const store = more.store ?? (await openStore({ location: file, now }));
  const random = seededRandom(name);
  const catalogue = createCatalogue({ connectors: { acme: acme(options) }, tools: new Map() });
  const refresher = createRefresher({
    vault: vaultOf(ringOf(KEY), name),
    catalogue,
    now,
    random,
    owner: random(16).toString('hex'),
    events: testEvents({ now, newId: createIds(now, random) }, catalogue),
    signIdentity: () => {
      throw new Error('none of these accounts needs our word');
    },
    discovery: createDiscovery(now),
    fetchFor: () => fetch,
    ...more,
    // By default, no caller gives up waiting; a test that needs this sets a limit.
    limits: { shortPatienceMs: Number.POSITIVE_INFINITY, ...more.limits },
    store,
  });
  return { store, refresher };
}

/** Returns a promise and the function that resolves it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
