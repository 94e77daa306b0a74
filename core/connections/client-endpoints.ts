import type { ClientBinding, ConnectionRow, EnvironmentRow, Repositories, Store } from '../../db/store.ts';
import { usersEnterCredentials } from '../accounts/links/completion.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import { directoryOf, isAtOrBelow } from '../connectors/address-scope.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { baseUrlOf } from '../connectors/base-url.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { SITE } from '../connectors/sites.ts';
import { OAuthConfigError } from '../oauth/config-error.ts';
import { issuerOf, type OAuthProvider } from '../oauth/provider.ts';
import type { Vault } from '../vault/vault.ts';
import { clientAddresses, isAllowed, isBaseOpen, openAddresses } from './allowed-addresses.ts';
import { clientSecretOf, requireTerms } from './client.ts';
import { type ClientColumns, resealClient } from './client-secret.ts';
import { foreignAddress } from './foreign-address.ts';
import { publishedIssuer } from './published-config.ts';

/** A client that is about to be used for one account. */
export interface ClientUse {
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  environment: Pick<EnvironmentRow, 'kind'>;
  /** The provider's OAuth configuration for this account, including discovered endpoints. */
  oauth: OAuthProvider;
}

type Pins = ClientBinding['pinned'];

/**
 * Checks that the client of a connection is used only at allowed endpoints (threats P2, P7). Most endpoints that are
 * not fixed by the provider's definition are stored with the client at their first use; afterwards, others are
 * rejected:
 * - An endpoint that depends on a value of the account is stored only outside production, and only if the connection
 *   has no `allowed_addresses`. Otherwise, and at a server that a customer runs, `allowed_addresses` must list it.
 * - An endpoint from the metadata of the provider's issuer is stored if `allowed_addresses` does not list it.
 *
 * `checkChosen` and `checkNamed` describe the exceptions.
 *
 * @returns the connection, including newly stored endpoints
 * @throws OAuthConfigError if an endpoint is not allowed; nothing was sent
 */
export async function secureEndpoints(
  store: Pick<Store, 'write'>,
  vault: Vault,
  use: ClientUse,
  at: number,
): Promise<ConnectionRow> {
  if (checkEndpoints(use) === null) return use.connection;
  return store.write((tx) => pin(tx, vault, use, at));
}

async function pin(tx: Repositories, vault: Vault, use: ClientUse, at: number): Promise<ConnectionRow> {
  const { environmentId, id } = use.connection;
  const connection = await tx.connections.get(environmentId, id);
  if (!connection) throw new OAuthConfigError('The connection was deleted.');
  // Another request may have stored its endpoints first.
  const pinned = checkEndpoints({ ...use, connection });
  if (pinned === null) return connection;
  const columns = pinnedColumns(vault, { ...use, connection }, pinned);
  await tx.connections.update(environmentId, id, connection.version, { ...columns, updatedAt: at });
  return (await tx.connections.get(environmentId, id)) as ConnectionRow;
}

/**
 * Checks the endpoints of one use.
 *
 * @returns null if nothing must be stored; otherwise all endpoints to store with the client
 * @throws OAuthConfigError for a use that is not allowed
 */
export function checkEndpoints(use: ClientUse): Pins | null {
  requireTerms(use);
  const { pinned, registered } = use.connection.clientBinding as ClientBinding;
  const foreign = registered ? undefined : foreignLearned(use);
  if (foreign !== undefined) throw notListed(foreign);
  const byAccount = checkChosen(use, pinned.byAccount);
  const byProvider = checkNamed(use, pinned.byProvider);
  if (byAccount === null && byProvider === null) return null;
  return { byAccount: byAccount ?? pinned.byAccount, byProvider: byProvider ?? pinned.byProvider };
}

/**
 * Returns an endpoint that an MCP server named, at which the connection does not allow its client; undefined if there
 * is none. The stored definition can contain such an endpoint, because Valetkey may have discovered it for another
 * connection of the provider, before this connection got its client.
 */
function foreignLearned({ environment, connection, provider, pattern }: ClientUse): string | undefined {
  if (publishedIssuer(pattern) === undefined) return undefined;
  return foreignAddress(environment, connection, provider.proxyUrl, pattern.oauth_config ?? {});
}

/**
 * Checks the addresses that contain an account value. Returns the addresses to store at this first use; null if nothing
 * must be stored.
 */
function checkChosen(use: ClientUse, known: readonly string[]): string[] | null {
  const { allowedAddresses: allowed } = use.connection;
  const isForeign = use.oauth.inputs[SITE]?.isForeign === true;
  const chosen = isForeign ? foreignAddresses(use) : chosenAddresses(use);
  if (chosen.length === 0) return null;
  if (allowed !== null || isForeign || use.environment.kind === 'PRODUCTION') {
    const refused = chosen.find(({ address }) => !isAllowed(address, allowed ?? []));
    if (refused !== undefined) throw notListed(refused.address);
    return null;
  }
  // No address needs to be stored: the client authenticates with an assertion for one record system, which another
  // record system cannot use.
  if (isRecordSystem(use.pattern) && use.pattern.oauth_config?.client_auth_method === 'private_key_jwt') return null;
  if (known.length === 0) return [...new Set(chosen.map(({ place }) => place))].sort();
  const other = chosen.find(({ place }) => !known.some((limit) => isAtOrBelow(place, limit)));
  if (other !== undefined) throw notListed(other.address);
  return null;
}

/**
 * Returns the addresses that contain an account value. `place` is what is stored: for an endpoint its URL directory,
 * because on a shared host a neighboring directory may belong to another customer.
 */
function chosenAddresses({ provider, pattern, oauth }: ClientUse): { address: string; place: string }[] {
  const usesBase = isRecordSystem(pattern) || (moduleOf(pattern.type).client?.signsCalls && provider.isCustom);
  const base = usesBase && isBaseOpen(provider) ? baseUrlOf(provider, oauth.inputs) : undefined;
  const endpoints = provider.isCustom ? openAddresses(pattern).map(oauth.address) : [];
  const places = endpoints.map((address) => ({ address, place: directoryOf(address) }));
  return base === undefined ? places : [{ address: base, place: base }, ...places];
}

/** Returns the OAuth addresses of a built-in connector at a server that a customer runs. */
function foreignAddresses({ pattern, oauth }: ClientUse): { address: string; place: string }[] {
  const addresses = usersEnterCredentials(pattern) ? [] : clientAddresses(pattern).map(oauth.address);
  return addresses.map((address) => ({ address, place: directoryOf(address) }));
}

/**
 * Checks the addresses that are in the provider's metadata but not in its definition. Returns the origins to store at
 * this first use; null if nothing must be stored.
 */
function checkNamed(use: ClientUse, known: readonly string[] | null): string[] | null {
  const { provider, pattern, oauth, connection } = use;
  const named = namedAddresses(use).filter((address) => !isAllowed(address, connection.allowedAddresses ?? []));
  if (named.length === 0) return null;
  const isOpen = isRecordSystem(pattern) ? isBaseOpen(provider) : openAddresses(pattern).length > 0;
  if (isOpen) {
    // The endpoints differ by account, so they cannot be stored with the client. They must have the origin of the
    // issuer, except at health record systems, whose endpoints may be on other origins.
    const origin = isRecordSystem(pattern) ? undefined : new URL(issuerOf(oauth) ?? '').origin;
    const other = origin && named.find((address) => new URL(address).origin !== origin);
    if (other) throw notListed(other);
    return null;
  }
  const origins = originsOf(named);
  if (known === null) return origins;
  const moved = origins.find((origin) => !known.includes(origin));
  if (moved !== undefined) throw notListed(moved);
  return null;
}

function namedAddresses({
  pattern: { oauth_config: declared = {} },
  oauth: { config, metadata },
}: ClientUse): string[] {
  const endpoints = (['authorize_uri', 'token_uri', 'revocation_uri', 'user_info_uri'] as const)
    .filter((name) => declared[name] === undefined)
    .map((name) => config[name]);
  const isPushed = metadata?.require_pushed_authorization_requests === true;
  const pushedTo = isPushed ? metadata.pushed_authorization_request_endpoint : undefined;
  return [...endpoints, pushedTo].filter((address) => address !== undefined);
}

function originsOf(addresses: readonly string[]): string[] {
  return [...new Set(addresses.map((address) => new URL(address).origin))].sort();
}

function notListed(address: string): OAuthConfigError {
  const { origin, pathname } = new URL(address);
  return new OAuthConfigError(
    `The client of the connection must not be used at ${origin}${pathname}. ` +
      'To allow it, list this address in allowed_addresses of the connection.',
  );
}

/** Returns the columns of a client with the given endpoints pinned in its binding. */
function pinnedColumns(
  vault: Vault,
  purpose: Parameters<typeof clientSecretOf>[1],
  pinned: ClientBinding['pinned'],
): ClientColumns {
  const { connection } = purpose;
  const binding = { ...(connection.clientBinding as ClientBinding), pinned };
  return resealClient(vault, connection, clientSecretOf(vault, purpose), binding);
}
