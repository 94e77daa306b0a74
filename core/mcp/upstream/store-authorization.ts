import type { EnvironmentRow, Transaction } from '../../../db/store.ts';
import { isDiscoveredByMcp } from '../../authorization/roles.ts';
import { bindClient } from '../../connections/client-binding.ts';
import { rebindClient } from '../../connections/client-change.ts';
import { sealClient } from '../../connections/client-secret.ts';
import { foreignAddress } from '../../connections/foreign-address.ts';
import { adaptToProvider, type ProviderChange, type ProviderChangeDeps } from '../../connections/provider-change.ts';
import { type CustomProviderDefinition, findPattern, toProvider } from '../../connections/providers.ts';
import { type PublishedConfig, publishedIssuer, withPublished } from '../../connections/published-config.ts';
import { OAuthConfigError } from '../../oauth/config-error.ts';
import type { RegisteredClient } from '../../oauth/registration.ts';

/** The authorization of an MCP server that was discovered for one connection. */
export interface ConnectionAuthorization {
  provider: string;
  connectionId: string;
  published: PublishedConfig;
  /** The client that was registered for the connection; null if it already has one. */
  client: RegisteredClient | null;
}

/**
 * Stores the discovered authorization of an MCP server in its provider, and the registered client in the connection.
 * Unless another authorization server was stored before, the discovered endpoints are added to the bindings of the
 * provider's clients: the addresses at which a client's secret may be used. After the first discovery, a difference is
 * also handled like any other change of the provider. Nothing is stored if the provider was deleted.
 */
export async function storeAuthorization(
  tx: Transaction,
  deps: ProviderChangeDeps,
  environment: EnvironmentRow,
  { provider, connectionId, published, client }: ConnectionAuthorization,
): Promise<void> {
  const updatedAt = deps.now();
  const row = await tx.customProviders.get(environment.id, provider);
  if (!row) return;
  const before = row.definition as unknown as CustomProviderDefinition;
  const known = before.auth_patterns.find(isDiscoveredByMcp);
  const definition = {
    ...before,
    auth_patterns: before.auth_patterns.map((pattern) =>
      isDiscoveredByMcp(pattern) ? withPublished(pattern, published) : pattern,
    ),
  };
  const change = { before: toProvider(provider, before), now: toProvider(provider, definition) };
  const issuer = known && publishedIssuer(known);
  if (issuer === undefined || issuer === published.issuer)
    await rebindClients(tx, deps, environment, change, published);
  if (issuer !== undefined) {
    await adaptToProvider(tx, deps, environment.id, change, {
      environmentId: environment.id,
      actor: 'system',
      requestId: '',
    });
  }
  await tx.customProviders.update(environment.id, provider, row.version, { definition, isMcp: row.isMcp, updatedAt });
  const connection = await tx.connections.get(environment.id, connectionId);
  const pattern = connection && findPattern(change.now, connection.type);
  // Two links that users opened at the same time may both have registered a client. The client that is stored first is
  // used.
  if (!client || !pattern || connection.clientId) return;
  const terms = { ...bindClient(change.now, pattern, connection.allowedAddresses), registered: true };
  const columns = sealClient(deps.vault, connection, client.secret, terms);
  const changes = { ...columns, clientId: client.clientId, updatedAt };
  await tx.connections.update(environment.id, connectionId, connection.version, changes);
}

/**
 * Adds the endpoints of an authorization server to the bindings of the provider's clients. Clients that an operator has
 * set are skipped if they must not be used at these endpoints.
 */
async function rebindClients(
  tx: Transaction,
  { vault, now }: ProviderChangeDeps,
  environment: EnvironmentRow,
  change: ProviderChange,
  published: PublishedConfig,
): Promise<void> {
  for (const connection of await tx.connections.listByProvider(environment.id, change.now.identifier)) {
    const isRegistered = connection.clientBinding?.registered === true;
    const isForeign = foreignAddress(environment, connection, change.now.proxyUrl, published) !== undefined;
    if (!isRegistered && isForeign) continue;
    try {
      await rebindClient(tx, vault, connection, change, now());
    } catch (error) {
      // A client that cannot be used at these endpoints keeps its old binding.
      if (!(error instanceof OAuthConfigError)) throw error;
    }
  }
}
