import { isDeepStrictEqual } from 'node:util';
import type { ConnectionRow, EnvironmentId, EnvironmentRow, Store } from '../../../db/store.ts';
import type { LinkContext } from '../../accounts/links/link-context.ts';
import { isDiscoveredByMcp } from '../../authorization/roles.ts';
import { callbackUrl } from '../../connections/callback-url.ts';
import { foreignAddress } from '../../connections/foreign-address.ts';
import type { ProviderChangeDeps } from '../../connections/provider-change.ts';
import {
  operatorConfig,
  type PublishedConfig,
  publishedIssuer,
  withPublished,
} from '../../connections/published-config.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { Discovery } from '../../oauth/discovery.ts';
import { type RegisteredClient, registerClient, registrationWay } from '../../oauth/registration.ts';
import type { FetchFor, ProtocolFetch } from '../../oauth/transport.ts';
import { type DiscoveredAuthorization, discoverAuthorization } from './discover-authorization.ts';
import { storeAuthorization } from './store-authorization.ts';

export interface McpAuthorizationDeps extends ProviderChangeDeps {
  store: Store;
  discovery: Discovery;
  /** Returns a fetch that can reach only these origins. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): Promise<ProtocolFetch>;
}

/**
 * `changed`: the provider's definition or the connection was changed, so the caller must read them again. The `message`
 * of a failure is written for operators.
 */
export type ConsentPreparation = { ok: true; changed: boolean } | { ok: false; message: string };

type AuthorizationServer = Extract<DiscoveredAuthorization, { ok: true }>['server'];

const CLIENT_NAME = 'Valetkey';
const MAX_FURTHER_SCOPES = 100;
const UNCHANGED: ConsentPreparation = { ok: true, changed: false };

/**
 * Prepares an MCP provider for the user's consent. It finds the authorization server of the MCP server and becomes its
 * client, by a client metadata document or by registration, unless an operator has set a client. The results are stored
 * in the provider's definition and the connection, so that tokens are refreshed and revoked, and sent only to allowed
 * origins, as for any other provider. The MCP server is asked again at every consent, because it may have changed its
 * authorization server. In that case the provider's accounts and clients are taken out of use, as after any change of a
 * provider. Nothing is done if the provider is not an MCP server whose authorization server can be discovered, or if
 * the connection has a client and an operator has set both `authorize_uri` and `token_uri`.
 */
export async function prepareConsent(
  deps: McpAuthorizationDeps,
  { environment, connection, provider, pattern }: LinkContext,
): Promise<ConsentPreparation> {
  const byOperator = operatorConfig(pattern.oauth_config);
  const knowsServer = byOperator.authorize_uri !== undefined && byOperator.token_uri !== undefined;
  const isClient = Boolean(connection.clientId);
  if (!isDiscoveredByMcp(pattern) || (knowsServer && isClient)) return UNCHANGED;
  const address = provider.proxyUrl ?? '';
  if (address.includes('{{'))
    return refuse(
      'The address of the MCP server contains account values, so its authorization server cannot be discovered: set authorize_uri and token_uri in oauth_config, and client_id in the connection.',
    );
  const fetchFor: FetchFor = (origins) => deps.fetchFor(environment.id, origins);
  const known = publishedIssuer(pattern);
  const { discovery, now } = deps;
  const request = {
    environmentId: environment.id,
    address,
    issuer: byOperator.issuer,
    known,
    discovery,
    fetchFor,
    now,
  };
  const found = await discoverAuthorization(request);
  if (!found.ok) return found.isSilent && known !== undefined && isClient ? UNCHANGED : refuse(found.message);
  const published = publishedBy(found, known === found.server.issuer ? pattern : undefined);
  if (isClient && isDeepStrictEqual(withPublished(pattern, published), pattern)) return UNCHANGED;
  const hasMoved = known !== undefined && known !== found.server.issuer;
  const isOperators = isClient && connection.clientBinding?.registered !== true;
  const foreign = isOperators && !hasMoved ? foreignAddress(environment, connection, address, published) : undefined;
  if (foreign !== undefined) {
    return refuse(
      `The client of the connection must not be used at ${foreign}, which the MCP server names. List the address in allowed_addresses of the connection to allow it.`,
    );
  }
  const needsClient = !isClient || (hasMoved && !isOperators);
  const description = clientDescription(environment, connection, withPublished(pattern, published));
  const registered = needsClient ? await becomeClient(deps, environment, connection, found.server, description) : null;
  if (registered && !registered.ok) return refuse(registered.message);
  const client = registered?.client ?? null;
  if (client?.method === 'client_secret_post') published.client_auth_method = client.method;
  await deps.store.write((tx) =>
    storeAuthorization(tx, deps, environment, {
      provider: provider.identifier,
      connectionId: connection.id,
      published,
      client,
    }),
  );
  if (hasMoved && isOperators)
    return refuse(
      `The MCP server now uses ${originOf(found.server)} for authorization. Set a client_id for it in the connection.`,
    );
  return { ok: true, changed: true };
}

/** @param before the previous pattern of the same authorization server, whose client authentication method is kept */
function publishedBy(
  { server, resource, scopes, supported }: Extract<DiscoveredAuthorization, { ok: true }>,
  before: AuthPattern | undefined,
): PublishedConfig {
  const further = supported.filter((scope) => !scopes.includes(scope)).slice(0, MAX_FURTHER_SCOPES);
  const available = [...scopes, ...further].map((scope, index) => ({
    scope,
    display_name: scope,
    required: index < scopes.length,
  }));
  return {
    issuer: server.issuer,
    authorize_uri: server.authorization_endpoint,
    token_uri: server.token_endpoint,
    revocation_uri: server.revocation_endpoint,
    resource,
    available_scopes: available.length > 0 ? available : undefined,
    client_auth_method: before?.oauth_config?.client_auth_method,
  };
}

type BecameClient = { ok: true; client: RegisteredClient } | { ok: false; message: string };

async function becomeClient(
  { fetchFor, now }: McpAuthorizationDeps,
  environment: EnvironmentRow,
  { id }: ConnectionRow,
  server: AuthorizationServer,
  description: ReturnType<typeof clientDescription>,
): Promise<BecameClient> {
  const own = clientDocumentUrl(environment, id);
  if (registrationWay(server) === 'metadata_document' && own.startsWith('https:')) {
    return { ok: true, client: { clientId: own, method: 'none', secret: null, secretExpiresAt: null } };
  }
  if (server.registration_endpoint === undefined) {
    return {
      ok: false,
      message: `${originOf(server)} does not register clients. Register one there, and set client_id in the connection.`,
    };
  }
  return registerClient({ server, description, fetchFor: (origins) => fetchFor(environment.id, origins), now });
}

/**
 * Returns the metadata of a connection's client. Some authorization servers limit a client to the scopes in its
 * metadata. So if the connection does not set its scopes, the metadata contains all known scopes, also those that only
 * some calls require.
 */
export function clientDescription(environment: EnvironmentRow, connection: ConnectionRow, pattern: AuthPattern) {
  const available = (pattern.oauth_config?.available_scopes ?? []).map(({ scope }) => scope);
  return {
    name: CLIENT_NAME,
    redirectUri: callbackUrl(environment, connection.id),
    scopes: connection.scopes.length > 0 ? connection.scopes : available,
  };
}

/**
 * Returns the address of a connection's client metadata document, which is its client id at servers that support such
 * documents.
 */
export function clientDocumentUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, connectionId: string): string {
  return `${baseUrl}/oauth/client/${connectionId}`;
}

function originOf({ issuer }: AuthorizationServer): string {
  return URL.parse(issuer)?.origin ?? 'an unknown address';
}

function refuse(message: string): ConsentPreparation {
  return { ok: false, message };
}
