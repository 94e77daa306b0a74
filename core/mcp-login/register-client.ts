import type {
  ClientAuthMethod,
  EnvironmentId,
  EnvironmentRow,
  NewOAuthClient,
  OAuthClientRow,
  Store,
  Transaction,
} from '../../db/store.ts';
import { MCP_LOGIN, STORED } from '../budgets.ts';
import { limitReached } from '../environments/within-space.ts';
import type { Cause, Events } from '../events/events.ts';
import type { Secret } from '../secret.ts';
import { digestClientSecret, mintClientSecret } from '../tokens/client-secret.ts';
import type { Digester } from '../vault/digest.ts';
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts';
import { schemesOf } from './clients.ts';

export interface RegisterDeps {
  store: Store;
  digester: Digester;
  events: Events;
  now(): number;
  random(size: number): Buffer;
  newId(prefix: 'ocl'): string;
}

/** A new client and its secret (null for a public client). Only a digest of the secret is stored. */
export interface RegisteredClient {
  client: OAuthClientRow;
  secret: Secret | null;
}

export type Registration =
  | ({ ok: true } & RegisteredClient)
  | {
      ok: false;
      error: 'invalid_redirect_uri' | 'invalid_client_metadata' | 'access_denied' | 'too_many';
      description: string;
    };

/**
 * Registers a client at its own request (RFC 7591 §3). No authentication is needed, so three numbers are limited: the
 * registrations from one IP address, the unused clients, and the used clients. Unused clients are removed after a day.
 * At the limit for used clients, some without a grant are deleted. If a limit is still reached, the client is not
 * registered (`too_many`).
 *
 * @param address the IP address of the client, for the limit
 */
export async function registerDynamicClient(
  deps: RegisterDeps,
  environment: EnvironmentRow,
  body: unknown,
  address: string,
  cause: Cause,
): Promise<Registration> {
  if (environment.settings.mcpDynamicRegistration === false)
    return {
      ok: false,
      error: 'access_denied',
      description: 'Clients cannot register themselves at this server: its administrator has to create them',
    };
  const read = readClientMetadata(body, schemesOf(environment), requestedMethod);
  if (!read.ok) return read;
  const originDigest = deps.digester.digest('mcp login: registration', environment.id, address);
  const now = deps.now();
  return deps.store.write(async (tx): Promise<Registration> => {
    const recent = await tx.oauthClients.countFrom(environment.id, originDigest, now - MCP_LOGIN.registrationsMs);
    const unused = await tx.oauthClients.countUnused(environment.id);
    if (recent >= MCP_LOGIN.registrations || unused >= MCP_LOGIN.unusedClients)
      return { ok: false, error: 'too_many', description: 'Too many clients were registered; try again later' };
    if (!(await makeSpace(tx, deps, environment.id, cause))) return { ok: false, error: 'too_many', description: FULL };
    return { ok: true, ...(await insertClient(tx, deps, environment, { ...read.metadata, originDigest }, cause)) };
  });
}

const FULL =
  'The environment has reached its limit for MCP clients, and users have granted access to all of them. An administrator must delete some';

/**
 * If the environment has the maximum number of used clients, deletes some of those without a grant, the least recently
 * used first.
 *
 * @returns false if all of them have grants
 */
async function makeSpace(
  tx: Transaction,
  { events, now }: RegisterDeps,
  environmentId: EnvironmentId,
  cause: Cause,
): Promise<boolean> {
  if ((await tx.oauthClients.countUsed(environmentId)) < MCP_LOGIN.usedClients) return true;
  const replaced = await tx.oauthClients.withoutGrants(environmentId, now(), MCP_LOGIN.replacedClients);
  for (const client of replaced) {
    await tx.oauthClients.delete(environmentId, client.id);
    await events.emit(tx, cause, {
      type: 'mcp_client.deleted',
      subject: client.id,
      data: (show) => ({ client: show.mcpClient(client) }),
    });
  }
  return replaced.length > 0;
}

/** @throws ApiError VALIDATION_FAILED if operators have created as many clients as an environment can have */
export async function requireMcpClientSpace(tx: Transaction, environmentId: EnvironmentId): Promise<void> {
  if ((await tx.oauthClients.countRegistered(environmentId)) < STORED.mcpClients) return;
  throw limitReached(
    'MCP clients',
    `at most ${STORED.mcpClients} that administrators have created. Delete clients that are not used.`,
  );
}

/** Stores a client, with a new secret unless its authentication method is `none`. */
export async function insertClient(
  tx: Transaction,
  { digester, random, newId, now, events }: RegisterDeps,
  { id: environmentId }: EnvironmentRow,
  { originDigest, ...metadata }: ClientMetadata & { originDigest: Buffer | null },
  cause: Cause,
): Promise<RegisteredClient> {
  const secret = metadata.authMethod === 'none' ? null : mintClientSecret(random);
  const client: NewOAuthClient = {
    ...metadata,
    id: newId('ocl'),
    kind: originDigest ? 'DYNAMIC' : 'REGISTERED',
    secretDigest: secret && digestClientSecret(secret, digester),
    originDigest,
    createdAt: now(),
  };
  await tx.oauthClients.insert(environmentId, client);
  const row = { ...client, environmentId, usedAt: null };
  await events.emit(tx, cause, {
    type: 'mcp_client.created',
    subject: row.id,
    data: (show) => ({ client: show.mcpClient(row) }),
  });
  return { client: row, secret };
}

/**
 * Returns the authentication method of a client. By default the client sends its secret in the Authorization header
 * (RFC 7591 §2). An unsupported method is replaced by `none`. The registration response tells the client which method
 * was stored.
 */
function requestedMethod(body: Record<string, unknown>): ClientAuthMethod {
  const { token_endpoint_auth_method: method = 'client_secret_basic' } = body;
  return method === 'client_secret_basic' || method === 'client_secret_post' ? method : 'none';
}
