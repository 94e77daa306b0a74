import type { EnvironmentRow, JwtSettings, LoginProviderRow, OidcSettings, ReadRepositories } from '../../db/store.ts';
import { requireListed } from '../accounts/links/verify-url.ts';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { ApiError, type FieldError } from '../errors.ts';
import { principalState } from '../operators/principal.ts';
import type { Schemas } from '../present/schemas.ts';
import { Secret } from '../secret.ts';
import { bindingDigest } from '../vault/binding-digest.ts';
import type { DataKeyContext, RecordContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';

export interface LoginProviderDeps {
  vault: Vault;
  now(): number;
  newId(prefix: 'lgp'): string;
}

/** The secret columns of a provider without a client secret. */
const NO_SECRET = { wrappedDataKey: null, kekId: null, clientSecretSealed: null } as const;

/**
 * The number of the credential write, which is part of what a data key is bound to. It is constant here, because each
 * new client secret is encrypted with a new data key.
 */
const GENERATION = 1;

/** Returns the row that the data key of a client secret is bound to: the key cannot be decrypted for another row. */
export function loginProviderContext(environmentId: string, id: string): DataKeyContext {
  return { table: 'login_providers', environmentId, recordId: id, generation: GENERATION };
}

/** Binds a client secret to the issuer, the client and the authentication method that it was supplied for. */
function secretPlace({ environmentId, id, issuer, oidc }: LoginProviderRow): RecordContext {
  const binding = [issuer, oidc?.clientId ?? '', oidc?.authMethod ?? ''];
  return { ...loginProviderContext(environmentId, id), bindingDigest: bindingDigest([], binding) };
}

/**
 * Returns the login provider that an administrator sets. It gets a new id, which ends the grants of users whom the
 * current provider identified, unless only the client secret, the scopes, the JWT algorithms or `user_verify_url`
 * change.
 *
 * @param present the current login provider; its client secret is kept if `input` has none and the id stays the same
 * @throws ApiError VALIDATION_FAILED, naming the invalid field
 */
export function loginProviderOf(
  { vault, now, newId }: LoginProviderDeps,
  environment: EnvironmentRow,
  input: Schemas['SetMcpLoginProviderRequest'],
  present: LoginProviderRow | undefined,
): LoginProviderRow {
  const errors = issuerProblems(input.issuer, environment);
  if (errors.length > 0) throw new ApiError('VALIDATION_FAILED', 'The login provider is invalid.', { errors });
  const { organization_id: organizationId = null, user_id: userId = 'sub', identifier = 'sub' } = input.claims ?? {};
  const at = now();
  const provider: LoginProviderRow = {
    id: newId('lgp'),
    environmentId: environment.id,
    type: input.type,
    issuer: input.issuer,
    claims: { organizationId, userId, identifier },
    allowedOrganizations: input.allowed_organizations ?? null,
    userVerifyUrl: input.user_verify_url == null ? null : requireListed(environment, input.user_verify_url),
    oidc: input.type === 'OIDC' ? oidcOf(input) : null,
    jwt: input.type === 'JWT' ? jwtOf(input) : null,
    ...NO_SECRET,
    createdAt: at,
    updatedAt: at,
  };
  if (claimsProblem(provider)) throw missingClaim();
  const isSame = present !== undefined && identityOf(present) === identityOf(provider);
  const kept = isSame ? { ...provider, id: present.id, createdAt: present.createdAt } : provider;
  return { ...kept, ...secretOf(vault, kept, input, isSame ? present : undefined) };
}

/** Returns the settings that determine which users are identified, and with which values, as a text to compare. */
function identityOf({ type, issuer, claims, allowedOrganizations, oidc, jwt }: LoginProviderRow): string {
  const { identifier, userId, organizationId } = claims;
  const client = oidc ? [oidc.clientId, oidc.authMethod] : [jwt?.audiences, jwt?.clientIds];
  return JSON.stringify([type, issuer, identifier, userId, organizationId, allowedOrganizations, client]);
}

function claimsProblem({ claims }: LoginProviderRow): boolean {
  return claims.organizationId === null && claims.userId === null;
}

function missingClaim(): ApiError {
  return new ApiError('VALIDATION_FAILED', 'The login provider is invalid.', {
    errors: [{ field: 'claims', message: 'must name a claim for user_id or for organization_id' }],
  });
}

function oidcOf(input: Schemas['OidcLoginProviderInput']): OidcSettings {
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = input;
  const authMethod = method ?? (secret === undefined ? 'none' : 'client_secret_basic');
  return { clientId, authMethod, scopes: [...new Set(['openid', ...(input.scopes ?? [])])] };
}

function jwtOf(input: Schemas['JwtLoginProviderInput']): JwtSettings {
  return {
    audiences: input.audiences ?? [],
    clientIds: input.client_ids ?? null,
    algorithms: input.algorithms ?? ['RS256'],
    scopes: input.scopes ?? [],
  };
}

function issuerProblems(issuer: string, { kind }: EnvironmentRow): FieldError[] {
  const url = URL.parse(issuer);
  const isAllowed = url && (url.protocol === 'https:' || (kind === 'DEVELOPMENT' && isSecureAddress(url)));
  if (!isAllowed) return [{ field: 'issuer', message: 'must be an https URL; in development also http on loopback' }];
  // The issuer is compared as text with the issuer of metadata and tokens, so it is stored exactly as entered.
  return /[?#@]/.test(issuer) ? [{ field: 'issuer', message: 'must have no query, fragment or user name' }] : [];
}

function secretOf(
  vault: Vault,
  provider: LoginProviderRow,
  input: Schemas['SetMcpLoginProviderRequest'],
  present: LoginProviderRow | undefined,
) {
  if (input.type !== 'OIDC' || provider.oidc?.authMethod === 'none') return NO_SECRET;
  if (input.client_secret !== undefined) {
    const place = secretPlace(provider);
    const { sealed, ...key } = vault.sealRecord(place, { client_secret: new Secret(input.client_secret) });
    return { ...key, clientSecretSealed: sealed.client_secret };
  }
  if (present?.clientSecretSealed) {
    const { wrappedDataKey, kekId, clientSecretSealed } = present;
    return { wrappedDataKey, kekId, clientSecretSealed };
  }
  throw new ApiError('VALIDATION_FAILED', 'The login provider is invalid.', {
    errors: [{ field: 'client_secret', message: 'is required for this token_endpoint_auth_method' }],
  });
}

/**
 * Decrypts the client secret of a provider; null if it has none.
 *
 * @throws VaultError if the secret or a value that it is bound to was altered: the ids of its environment and its
 * provider, the issuer, the client ID or the authentication method
 */
export function openLoginSecret(vault: Vault, provider: LoginProviderRow): Secret | null {
  const { wrappedDataKey, clientSecretSealed } = provider;
  if (!wrappedDataKey || !clientSecretSealed) return null;
  return vault.open(secretPlace(provider), 'client_secret', {
    wrappedDataKey,
    sealed: { client_secret: clientSecretSealed },
  });
}

/**
 * Whether the API client, operator session or login provider that identified a user still may do so. The grants of the
 * users end when the API client is disabled, the session ends, or the login provider is replaced.
 *
 * @param now milliseconds UTC
 */
export async function mayIdentifyUsers(
  read: Pick<ReadRepositories, 'apiClients' | 'loginProviders' | 'operatorSessions'>,
  environmentId: EnvironmentRow['id'],
  identifiedBy: string,
  now: number,
): Promise<boolean> {
  if (identifiedBy.startsWith('lgp_')) return (await read.loginProviders.get(environmentId))?.id === identifiedBy;
  return (await principalState(read, environmentId, identifiedBy, now))?.enabled === true;
}
