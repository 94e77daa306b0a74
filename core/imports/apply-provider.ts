import type { EnvironmentId, Transaction } from '../../db/store.ts';
import { type CustomProviderDeps, createCustomProvider, updateCustomProvider } from '../connections/custom.ts';
import { addressPlaces } from '../connectors/address-template.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { ImportResult } from '../openapi-conversion/import-document.ts';
import { importError } from '../openapi-conversion/import-error.ts';

/** The maximum length of `base_url` in the contract, in characters. */
const MAX_ADDRESS = 2000;

/** The provider that the imported tools belong to, as the request names it. */
export interface ImportTarget {
  /** The identifier of a custom provider; it is created if it does not exist. */
  connector: string;
  /** Replaces the address in the document. If the provider exists, its address is changed. */
  baseUrl?: string | undefined;
  displayName?: string | undefined;
}

/**
 * The provider after an import, what the import did with it, and the number of accounts that must be authorized again.
 */
export interface ImportedProvider {
  identifier: string;
  action: 'created' | 'updated' | 'kept';
  base_url: string;
  authorization_types: string[];
  accounts_parked: number;
}

/**
 * Creates the provider of an import. If it exists, changes only the fields that the request contains.
 *
 * @throws ApiError INVALID_DOCUMENT if the provider is new and neither the request nor the document contains a base
 * address; VALIDATION_FAILED, INVALID_AUTH_PATTERN, PROVIDER_IN_USE
 */
export async function applyProvider(
  tx: Transaction,
  deps: CustomProviderDeps,
  environmentId: EnvironmentId,
  { connector, baseUrl, displayName }: ImportTarget,
  result: Omit<ImportResult, 'report'>,
  cause: Cause,
): Promise<ImportedProvider> {
  const present = await tx.customProviders.get(environmentId, connector);
  if (present) {
    const { proxy_url, proxy_enabled, display_name } = present.definition as unknown as Stored;
    const moves = baseUrl !== undefined && !(proxy_enabled && proxy_url === baseUrl);
    const change = {
      ...(moves && { proxy_url: baseUrl, proxy_enabled: true }),
      ...(displayName !== undefined && displayName !== display_name && { display_name: displayName }),
    };
    const edited = Object.keys(change).length > 0;
    const { row, parked } = edited
      ? await updateCustomProvider(tx, deps, environmentId, present, change, cause)
      : { row: present, parked: 0 };
    if (edited) {
      await deps.events.emit(tx, cause, {
        type: 'custom_provider.updated',
        subject: row.id,
        details: { accounts_parked: parked },
        data: (show) => ({ provider: show.provider(row) }),
      });
    }
    return shown(row, edited ? 'updated' : 'kept', parked);
  }
  const address = baseUrl ?? result.baseUrl;
  if (address === undefined) throw importError('base_url', 'is required: the document has no absolute server URL');
  if (address.length > MAX_ADDRESS) {
    throw importError(
      'base_url',
      `is required: the server URL of the document has more than ${MAX_ADDRESS} characters`,
    );
  }
  const patterns = withAccountFields(result.authPatterns, address);
  const definition = {
    description: result.description,
    proxy_url: address,
    proxy_enabled: true,
    auth_patterns: patterns,
  };
  // The identifier is derived from the display name, so the requested identifier is set as the display name first.
  const made = await createCustomProvider(tx, deps, environmentId, { ...definition, display_name: connector });
  if (made.identifier !== connector) {
    const errors = [{ field: 'connector', message: `is already used or invalid; ${made.identifier} is available` }];
    throw new ApiError('VALIDATION_FAILED', `The connector name ${connector} is already used or invalid.`, { errors });
  }
  const named = { display_name: displayName ?? result.title };
  const { row } = await updateCustomProvider(tx, deps, environmentId, made, named, cause);
  await deps.events.emit(tx, cause, {
    type: 'custom_provider.created',
    subject: row.id,
    data: (show) => ({ provider: show.provider(row) }),
  });
  return shown(row, 'created', 0);
}

/** The part of a stored provider that an import may change. */
interface Stored {
  proxy_url?: string;
  proxy_enabled?: boolean;
  display_name?: string;
}

/**
 * Returns the patterns with a required account field for each placeholder of an address such as
 * `https://{{subdomain}}.example.com`.
 */
function withAccountFields(patterns: readonly AuthPattern[], address: string): AuthPattern[] {
  const places = [...new Set(/\{\{/.test(address) ? addressPlaces(address).map(({ field }) => field) : [])];
  if (places.length === 0) return [...patterns];
  const fields = places.map((field_name) => ({
    field_name,
    label: field_name,
    input_type: 'text' as const,
    required: true,
    is_path_param: true,
  }));
  return patterns.map((pattern) => ({ ...pattern, account_fields: fields }));
}

function shown(
  { identifier, definition }: { identifier: string; definition: unknown },
  action: 'created' | 'updated' | 'kept',
  parked: number,
): ImportedProvider {
  const { proxy_url, auth_patterns } = definition as { proxy_url: string; auth_patterns: AuthPattern[] };
  return {
    identifier,
    action,
    base_url: proxy_url,
    authorization_types: auth_patterns.map(({ type }) => type),
    accounts_parked: parked,
  };
}
