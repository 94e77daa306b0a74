import type { RevocationOrder } from '../../core/accounts/revocation-order.ts';
import { openPayload } from '../../core/jobs/payload.ts';
import type { AuthRequestRow } from '../../db/store.ts';
import { auditOf } from './audit.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { startAuthorizationServer } from './authorization-server.ts';
import { type TestClock, testClock } from './clock.ts';
import { dumpDatabase } from './database-file.ts';
import {
  accountOf,
  browserFor,
  consentConnector,
  type LinkOptions,
  makeLink,
  returned,
  startLinkServer,
  verifyUser,
  walk,
} from './links.ts';
import { ORDERED_ONLY } from './revocations.ts';
import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** A server, a provider with a strict authorization server, and a connection to this provider. */
export interface LinkWorld {
  as: AuthorizationServer;
  server: TestServer;
  clock: TestClock;
  connector: string;
  connectionId: string;
  /** Creates a link for a user of the application, by identifier. */
  link(identifier: string, options?: LinkOptions): Promise<string>;
  /** Completes a link as a user. @returns the auth_request_id that the application receives */
  finished(link: string, login?: string): Promise<string>;
  /** Connects an account of a user, from the link to the verification. @returns the account's id */
  connected(identifier: string, login?: string): Promise<string>;
  status(identifier: string): Promise<string | undefined>;
  /** The access token that the account uses; undefined if it has none. */
  token(identifier: string): Promise<string | undefined>;
  /** Returns the revocations that were ordered for an account. */
  orders(identifier: string): Promise<RevocationOrder[]>;
  actions(identifier: string): Promise<string[]>;
  /** Returns the stored authorization requests of all accounts. */
  requests(): Record<string, unknown>[];
  stop(): Promise<void>;
}

/**
 * Starts the servers, and connects them.
 *
 * @param revokes whether revocations are really sent; otherwise their jobs wait, so that tests can read them
 */
export async function startLinkWorld({ revokes = false } = {}): Promise<LinkWorld> {
  const clock = testClock(Date.now());
  const as = await startAuthorizationServer();
  const server = await startLinkServer({
    env: { VALETKEY_ENDPOINT_OVERRIDES: as.override },
    overrides: { now: clock.now, ...(!revokes && { jobs: ORDERED_ONLY }) },
  });
  const { connector, connectionId } = await consentConnector(server, as);
  const idOf = async (identifier: string) => (await accountOf(server, identifier))?.id ?? '';
  const world: LinkWorld = {
    as,
    server,
    clock,
    connector,
    connectionId,
    link: (identifier, options = {}) => makeLink(server, { connector, identifier, user_id: identifier, ...options }),
    finished: async (link, login) => returned(await walk(browserFor(as), link, login)).authRequestId,
    async connected(identifier, login) {
      const answer = await verifyUser(server, await world.finished(await world.link(identifier), login), identifier);
      if (answer.status !== 200) throw new Error(`not verified: ${answer.text}`);
      return idOf(identifier);
    },
    status: async (identifier) => (await accountOf(server, identifier))?.status,
    async token(identifier) {
      const { body } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${await idOf(identifier)}`);
      return body.connected_account.authorization_details.oauth_token?.access_token;
    },
    async orders(identifier) {
      const { id } = await firstEnvironment(server);
      const jobs = await server.parts.store.read.jobs.listBySubject(id, await idOf(identifier));
      const waiting = jobs.filter((job) => job.payloadSealed !== null);
      return waiting.map((job) => openPayload(server.parts.vault, job) as RevocationOrder);
    },
    actions: async (identifier) => (await auditOf(server, await idOf(identifier))).map(({ action }) => action),
    requests: () => dumpDatabase(server)['auth_requests'] ?? [],
    async stop() {
      await server.stop();
      await as.stop();
    },
  };
  return world;
}

/**
 * Returns the only stored request of an account. If there were several, none could be called the newest, because ids of
 * different servers are not ordered.
 */
export async function requestOf(world: LinkWorld, identifier: string): Promise<AuthRequestRow> {
  const { id } = await firstEnvironment(world.server);
  const accountId = (await accountOf(world.server, identifier))?.id;
  const [row, ...others] = world.requests().filter((request) => request['account_id'] === accountId);
  if (!row || others.length > 0) throw new Error(`${identifier} has ${row ? others.length + 1 : 'no'} requests`);
  return (await world.server.parts.store.read.authRequests.get(id, String(row['id']))) as AuthRequestRow;
}
