import {
  contentHash,
  type EnvironmentId,
  type EnvironmentToolEntry,
  type ReadRepositories,
  type Transaction,
} from '../../db/store.ts';
import { type CustomProviderDeps, createCustomProvider, updateCustomProvider } from '../connections/custom.ts';
import { deleteTools } from '../connections/delete-tools.ts';
import { addressPlaces } from '../connectors/address-template.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { requireToolSpace } from '../discovery/tool-space.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { ImportResult } from '../openapi-conversion/import-document.ts';
import { importError } from '../openapi-conversion/import-error.ts';
import { inBatches } from '../scheduling/in-batches.ts';
import { toolPrefix } from '../tools/tool-name.ts';

/** The limit of `base_url` in the contract. */
const MAX_ADDRESS = 2000;

/** The provider that the imported tools belong to, as the request names it. */
export interface ImportTarget {
  /** The identifier of a custom provider; it is created if it does not exist. */
  connector: string;
  /** Replaces the address in the document. If the provider exists, its address is changed. */
  baseUrl?: string | undefined;
  displayName?: string | undefined;
}

/** The changes of an import, or of its preview. */
export interface ImportChanges {
  provider: {
    identifier: string;
    action: 'created' | 'updated' | 'kept';
    base_url: string;
    authorization_types: string[];
    accounts_parked: number;
  };
  /** Tool names, sorted. */
  added: string[];
  changed: string[];
  removed: string[];
  unchanged: number;
}

/** Returns the names that an import needs from the environment before it names its tools. */
export async function namesBefore(
  read: ReadRepositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  connector: string,
) {
  if (catalogue.connector(connector)) {
    const errors = [{ field: 'connector', message: 'is a built-in connector, whose tools cannot be replaced' }];
    throw new ApiError('VALIDATION_FAILED', 'The tools cannot be imported for this connector.', { errors });
  }
  const own = imported(await read.environmentTools.entriesOf(environmentId, connector));
  const names = new Map(own.map((row) => [row.sourceId as string, row.name]));
  const mine = new Set(own.map((row) => row.name));
  const prefix = toolPrefix(connector);
  const others = [...(await read.environmentTools.names(environmentId)), ...catalogue.toolNames()];
  return { names, taken: others.filter((name) => name.startsWith(prefix) && !mine.has(name)) };
}

/**
 * Stores an import: the provider if it is new, and its tools. Tools of an earlier import that are no longer part of it
 * are deleted; tools that users wrote stay. An existing provider keeps its patterns, and also its address unless the
 * request contains one. Everything happens in one transaction, but in batches, because thousands of tools would block
 * the event loop for too long.
 *
 * @throws ApiError INVALID_DOCUMENT without an address; VALIDATION_FAILED, INVALID_AUTH_PATTERN, PROVIDER_IN_USE
 */
export async function applyImport(
  tx: Transaction,
  deps: CustomProviderDeps,
  environmentId: EnvironmentId,
  target: ImportTarget,
  result: Omit<ImportResult, 'report'>,
  cause: Cause,
): Promise<ImportChanges> {
  const provider = await applyProvider(tx, deps, environmentId, target, result, cause);
  const before = new Map(
    imported(await tx.environmentTools.entriesOf(environmentId, target.connector)).map((row) => [row.name, row]),
  );
  const after = new Map(result.tools.map((entry) => [entry.tool.name, entry]));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const written: ImportResult['tools'] = [];
  await inBatches(tx, result.tools, (batch) => {
    const differs = ({ sourceId, tool }: (typeof batch)[number]) => {
      const row = before.get(tool.name);
      return row?.contentHash !== contentHash(tool) || row.sourceId !== sourceId;
    };
    written.push(...batch.filter(differs));
  });
  const at = deps.now();
  // A new operation may use the name of a removed one, so removals come first.
  const moved = written.filter(
    ({ sourceId, tool }) => before.has(tool.name) && before.get(tool.name)?.sourceId !== sourceId,
  );
  await deleteTools(tx, environmentId, [...removed, ...moved.map(({ tool }) => tool.name)]);
  await requireToolSpace(tx, environmentId, written.filter(({ tool }) => !before.has(tool.name)).length + moved.length);
  const toRow = ({ sourceId, tool }: (typeof written)[number]) => ({
    name: tool.name,
    connector: target.connector,
    source: 'import' as const,
    sourceId,
    definition: tool,
    at,
  });
  await inBatches(tx, written, (batch) => tx.environmentTools.upsert(environmentId, batch.map(toRow)));
  const names = written.map(({ tool }) => tool.name).sort();
  const added = names.filter((name) => !before.has(name));
  const changed = names.filter((name) => before.has(name));
  await deps.events.emit(tx, cause, {
    type: 'tools.imported',
    subject: target.connector,
    details: { added: added.length, changed: changed.length, removed: removed.length },
    data: () => ({ connector: target.connector }),
  });
  return {
    provider,
    added,
    changed,
    removed: removed.sort(),
    unchanged: result.tools.length - written.length,
  };
}

function imported(rows: readonly EnvironmentToolEntry[]): EnvironmentToolEntry[] {
  return rows.filter((row) => row.source === 'import' && row.sourceId !== null);
}

async function applyProvider(
  tx: Transaction,
  deps: CustomProviderDeps,
  environmentId: EnvironmentId,
  { connector, baseUrl, displayName }: ImportTarget,
  result: Omit<ImportResult, 'report'>,
  cause: Cause,
): Promise<ImportChanges['provider']> {
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
  // The identifier is derived from the display name.
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
): ImportChanges['provider'] {
  const { proxy_url, auth_patterns } = definition as { proxy_url: string; auth_patterns: AuthPattern[] };
  return {
    identifier,
    action,
    base_url: proxy_url,
    authorization_types: auth_patterns.map(({ type }) => type),
    accounts_parked: parked,
  };
}
