import { openSession } from '../../db/postgres/session.ts';
import { type Cluster, startCluster } from '../../scripts/postgres/cluster.ts';
import { API_ORIGIN, type Counterpart, startCounterpart } from '../crash/counterpart.ts';
import { createAccount } from '../support/accounts.ts';
import { type ChildServer, runCommand, startChildServer } from '../support/child-server.ts';
import { createTemplate, TEMPLATE } from '../support/postgres/databases.ts';
import { type Network, startNetwork } from '../support/postgres/network.ts';
import { API_KEY_PATTERN, createProvider } from '../support/providers.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

export interface ChaosServer extends ChildServer {
  network: Network;
}

/** A database server that does not lose what it has acknowledged, a provider, and processes that can be killed. */
export interface ChaosWorld {
  cluster: Cluster;
  counterpart: Counterpart;
  env: Record<string, string>;
  /** Starts a server process with its own network to the database. @param clockMs how far its clock is ahead */
  start(clockMs?: number): Promise<ChaosServer>;
  /** Starts a server process with other settings, by default those of `env`. */
  startWith(settings: Record<string, string>): Promise<ChildServer>;
  /** Creates the provider of the counterpart. @returns the account for calls, and the provider's identifier */
  prepare(server: ChildServer): Promise<{ connector: string; toolAccount: string }>;
  verifyAudit(): Promise<string>;
  /** Returns how many servers are registered. */
  instances(): Promise<number>;
  end(): Promise<void>;
}

export interface WorldOptions {
  /** Prepares the database server before the first process uses it. */
  arrange?(cluster: Cluster): Promise<void>;
  /** Settings of all processes. */
  settings?: Record<string, string>;
}

export async function startWorld({ arrange, settings }: WorldOptions = {}): Promise<ChaosWorld> {
  const cluster = startCluster(['fsync=on', 'full_page_writes=on']);
  const folder = tempDir();
  await createTemplate(cluster.socket);
  await arrange?.(cluster);
  const counterpart = await startCounterpart();
  const env = {
    DATABASE_URL: cluster.url(TEMPLATE),
    DATA_DIR: folder.path,
    BASE_URL: 'http://localhost',
    METRICS_PORT: '0',
    VALETKEY_ENDPOINT_OVERRIDES: counterpart.upstream.endpointOverride(API_ORIGIN),
    ...settings,
  };
  const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
  const { code, stderr } = await runCommand(['init'], { ...env, ...client });
  if (code !== 0) throw new Error(stderr);
  const operator = await openSession(cluster.url(TEMPLATE));
  const networks: Network[] = [];
  const servers: ChildServer[] = [];
  return {
    cluster,
    counterpart,
    env,
    async start(clockMs = 0) {
      const network = await startNetwork(cluster.socket);
      networks.push(network);
      const before = clockMs === 0 ? undefined : `const now = Date.now; Date.now = () => now() + ${clockMs};`;
      const server = await startChildServer({ ...env, DATABASE_URL: network.url(TEMPLATE) }, { before });
      servers.push(server);
      return { ...server, network };
    },
    async startWith(own) {
      const server = await startChildServer({ ...env, ...own });
      servers.push(server);
      return server;
    },
    async prepare(server) {
      const provider = { proxy_enabled: true, proxy_url: API_ORIGIN, auth_patterns: [API_KEY_PATTERN] };
      const { identifier } = await createProvider(server, provider);
      const connectedAccount = { authorization_details: { static_auth: { details: { api_key: 'tool-key' } } } };
      const { id } = await createAccount(server, { connector: identifier, identifier: 'tools', connectedAccount });
      return { connector: identifier, toolAccount: id };
    },
    async verifyAudit() {
      const { stdout, stderr } = await runCommand(['verify-audit'], env);
      return stdout + stderr;
    },
    async instances() {
      const { rows } = await operator.query({ text: 'select count(*) from instances' });
      return Number(rows[0]?.[0]);
    },
    async end() {
      await operator.close().catch(() => {});
      for (const { child } of servers) if (child.exitCode === null) child.kill('SIGKILL');
      for (const network of networks) await network.close();
      await counterpart.upstream.stop();
      cluster.stop();
      folder.remove();
    },
  };
}
