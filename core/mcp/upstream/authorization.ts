import type { ConnectionRow, EnvironmentId, EnvironmentRow, Repositories, Store } from '../../../db/store.ts';
import type { LinkContext } from '../../accounts/links/link-context.ts';
import { callbackUrl } from '../../accounts/links/start-consent.ts';
import { isAllowed } from '../../connections/allowed-addresses.ts';
import { bindClient } from '../../connections/client-binding.ts';
import { rebindClient } from '../../connections/client-change.ts';
import { sealClient } from '../../connections/client-secret.ts';
import { type CustomProviderDefinition, findPattern, toProvider } from '../../connections/providers.ts';
import { requestedScopes } from '../../connections/scopes.ts';
import type { AuthPattern, OAuthConfig } from '../../connectors/auth-pattern.ts';
import type { Discovery } from '../../oauth/discovery.ts';
import { type RegisteredClient, registerClient, registrationWay } from '../../oauth/registration.ts';
import type { ProtocolFetch } from '../../oauth/transport.ts';
import type { Vault } from '../../vault/vault.ts';
import { discoverAuthorization } from './discover-authorization.ts';

export interface McpAuthorizationTools {
  store: Store;
  vault: Vault;
  discovery: Discovery;
  /** Milliseconds UTC. */
  now(): number;
  /** A fetch that reaches these origins only. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): Promise<ProtocolFetch>;
}

/** `changed`: the provider's definition or the connection is another one now. Messages are fixed sentences for the log. */
export type Readied = { ok: true; changed: boolean } | { ok: false; message: string };

/** What a server says of its authorization, as far as accounts need it. */
type Learned = Pick<OAuthConfig, 'issuer' | 'authorize_uri' | 'token_uri' | 'revocation_uri' | 'resource'> & {
  scopes: string[];
};

const CLIENT_NAME = 'Valetkey';

/**
 * Makes an MCP provider ready for consent: finds its authorization server, and becomes a client of it, by the address of a document about
 * ourselves or by registration, unless an operator has set one up. What is learned is written into the provider's definition and the connection, so that refreshes, revocations and the origins
 * that credentials are bound to are those of any other provider.
 */
export async function readyForConsent(
  tools: McpAuthorizationTools,
  { environment, connection, provider, pattern }: LinkContext,
): Promise<Readied> {
  const config = pattern.oauth_config ?? {};
  const knowsServer = config.authorize_uri !== undefined && config.token_uri !== undefined;
  const isClient = Boolean(connection.clientId);
  if (!pattern.is_mcp || pattern.type !== 'OAUTH' || (knowsServer && isClient)) return { ok: true, changed: false };
  const address = provider.proxyUrl ?? '';
  if (address.includes('{{'))
    return refuse('An MCP server whose address differs per account needs its endpoints given.');
  const fetchFor = (origins: readonly string[]) => tools.fetchFor(environment.id, origins);
  const found = await discoverAuthorization({
    environmentId: environment.id,
    address,
    issuer: config.issuer,
    known: config.issuer,
    discovery: tools.discovery,
    fetchFor,
    now: tools.now,
  });
  if (!found.ok) return refuse(found.message);
  const { server, resource, scopes } = found;
  const learned: Learned = {
    issuer: server.issuer,
    authorize_uri: server.authorization_endpoint,
    token_uri: server.token_endpoint,
    revocation_uri: server.revocation_endpoint,
    resource,
    scopes,
  };
  const foreign = isClient ? foreignAddress(environment, connection, address, learned) : undefined;
  if (foreign !== undefined) {
    return refuse(
      `The MCP server names ${foreign} for the client of the connection, and allowed_addresses does not list it.`,
    );
  }
  let client: RegisteredClient | null = null;
  if (!isClient) {
    const own = clientDocumentUrl(environment, connection.id);
    if (registrationWay(server) === 'metadata_document' && own.startsWith('https:')) {
      client = { clientId: own, method: 'none', secret: null, secretExpiresAt: null };
    } else if (server.registration_endpoint !== undefined) {
      const description = clientDescription(environment, connection, withLearned(pattern, learned, null));
      const registered = await registerClient({ server, description, fetchFor, now: tools.now });
      if (!registered.ok) return refuse(registered.message);
      client = registered.client;
    } else {
      return refuse('The authorization server registers nobody by itself: the connection needs a client_id.');
    }
  }
  await tools.store.write((tx) =>
    keep(tx, tools, environment, connection, { provider: provider.identifier, learned, client }),
  );
  return { ok: true, changed: true };
}

/**
 * An address at another host than the MCP server's that an operator's own client must not be used at (RFC 9700 §4.4): a server could
 * have tokens made for it by naming an authorization server that knows the client for another purpose.
 */
function foreignAddress(
  { kind }: EnvironmentRow,
  { allowedAddresses: allowed }: ConnectionRow,
  server: string,
  { issuer, authorize_uri, token_uri, revocation_uri }: Learned,
): string | undefined {
  if (allowed === null && kind !== 'PRODUCTION') return undefined;
  const { origin } = new URL(server);
  const named = [issuer, authorize_uri, token_uri, revocation_uri].filter((address) => address !== undefined);
  return named.find((address) => new URL(address).origin !== origin && !isAllowed(address, allowed ?? []));
}

/** What a connection says of itself where it is a client. */
export function clientDescription(environment: EnvironmentRow, connection: ConnectionRow, pattern: AuthPattern) {
  return {
    name: CLIENT_NAME,
    redirectUri: callbackUrl(environment, connection.id),
    scopes: requestedScopes(connection, pattern),
  };
}

/** Where a connection's document about itself is served: the client id that it has at servers which read it. */
export function clientDocumentUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, connectionId: string): string {
  return `${baseUrl}/oauth/client/${connectionId}`;
}

function refuse(message: string): Readied {
  return { ok: false, message };
}

/** What an operator has written down stays; the rest is as the servers say. */
function withLearned(
  pattern: AuthPattern,
  { scopes, ...learned }: Learned,
  client: RegisteredClient | null,
): AuthPattern {
  const given = pattern.oauth_config ?? {};
  const known = Object.fromEntries(Object.entries(learned).filter(([, value]) => value !== undefined));
  const available = scopes.map((scope) => ({ scope, display_name: scope, required: true }));
  return {
    ...pattern,
    oauth_config: {
      ...known,
      ...(available.length > 0 && { available_scopes: available }),
      ...(client?.method === 'client_secret_post' && { client_auth_method: client.method }),
      ...given,
    },
  };
}

async function keep(
  tx: Repositories,
  { vault, now }: McpAuthorizationTools,
  environment: EnvironmentRow,
  { id }: ConnectionRow,
  { provider, learned, client }: { provider: string; learned: Learned; client: RegisteredClient | null },
): Promise<void> {
  const updatedAt = now();
  const row = await tx.customProviders.get(environment.id, provider);
  const connection = await tx.connections.get(environment.id, id);
  if (!row || !connection) return;
  const before = row.definition as unknown as CustomProviderDefinition;
  const auth_patterns = before.auth_patterns.map((pattern) =>
    pattern.is_mcp && pattern.type === 'OAUTH' ? withLearned(pattern, learned, client) : pattern,
  );
  const definition = { ...before, auth_patterns };
  const [was, is] = [toProvider(provider, before), toProvider(provider, definition)];
  await tx.customProviders.update(environment.id, provider, row.version, { definition, isMcp: row.isMcp, updatedAt });
  const pattern = findPattern(is, connection.type);
  if (!client || connection.clientId || !pattern) {
    // What the server told completes the terms of the client that asked; others are used for what they were set up for.
    await rebindClient(tx, vault, connection, { before: was, now: is }, updatedAt);
    return;
  }
  // Two links at one time may both have registered: the first one that is written down is the client.
  const settings = sealClient(vault, connection, client.secret, bindClient(is, pattern, connection.allowedAddresses));
  await tx.connections.update(environment.id, id, connection.version, {
    ...settings,
    clientId: client.clientId,
    updatedAt,
  });
}
