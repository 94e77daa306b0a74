import {
  contentHash,
  type EnvironmentId,
  type EnvironmentToolEntry,
  type ReadRepositories,
  type Transaction,
} from '../../db/store.ts';
import { type CustomProviderTools, createCustomProvider, updateCustomProvider } from '../connections/custom.ts';
import { deleteTools } from '../connections/delete-tools.ts';
import { addressPlaces } from '../connectors/address-template.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { ImportResult } from '../import/import-document.ts';
import { importError } from '../import/import-error.ts';
import { inPieces } from '../in-pieces.ts';
import { toolPrefix } from '../tools/tool-name.ts';

/** As the contract says of `base_url`. */
const MAX_ADDRESS = 2000;

/** What a caller says about the provider that the tools are for. */
export interface ImportTarget {
  /** The identifier of a custom provider, which is made when there is none. */
  connector: string;
  /** Instead of the document's own server; of a provider that is there it changes the address. */
  baseUrl?: string | undefined;
  displayName?: string | undefined;
}

/** What an import changes, or would change. */
export interface ImportChanges {
  provider: {
    identifier: string;
    action: 'created' | 'updated' | 'kept';
    base_url: string;
    authorization_types: string[];
    accounts_parked: number;
  };
  /** Names, in order. */
  added: string[];
  changed: string[];
  removed: string[];
  unchanged: number;
}

/** What an import must know of an environment before it names anything. */
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
 * Writes an import: the provider, where it is new, and its tools. What an earlier import brought and this one does not is
 * removed; tools that people wrote stay. A provider that is there keeps its patterns, and its address unless one is given. It is one
 * transaction, in pieces: thousands of tools take longer than the event loop may be held.
 *
 * @throws ApiError INVALID_DOCUMENT without an address; VALIDATION_FAILED, INVALID_AUTH_PATTERN, PROVIDER_IN_USE
 */
export async function applyImport(
  tx: Transaction,
  tools: CustomProviderTools,
  environmentId: EnvironmentId,
  target: ImportTarget,
  result: ImportResult,
  cause: Cause,
): Promise<ImportChanges> {
  const provider = await applyProvider(tx, tools, environmentId, target, result, cause);
  const before = new Map(
    imported(await tx.environmentTools.entriesOf(environmentId, target.connector)).map((row) => [row.name, row]),
  );
  const after = new Map(result.tools.map((entry) => [entry.tool.name, entry]));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const written: ImportResult['tools'] = [];
  await inPieces(tx, result.tools, (piece) => {
    const differs = ({ sourceId, tool }: (typeof piece)[number]) => {
      const row = before.get(tool.name);
      return row?.contentHash !== contentHash(tool) || row.sourceId !== sourceId;
    };
    written.push(...piece.filter(differs));
  });
  const at = tools.now();
  // A removed operation may have left its name to another one, so removals come first.
  const moved = written.filter(
    ({ sourceId, tool }) => before.has(tool.name) && before.get(tool.name)?.sourceId !== sourceId,
  );
  await deleteTools(tx, environmentId, [...removed, ...moved.map(({ tool }) => tool.name)]);
  const toRow = ({ sourceId, tool }: (typeof written)[number]) => ({
    name: tool.name,
    connector: target.connector,
    source: 'import' as const,
    sourceId,
    definition: tool,
    at,
  });
  await inPieces(tx, written, (piece) => tx.environmentTools.upsert(environmentId, piece.map(toRow)));
  const names = written.map(({ tool }) => tool.name).sort();
  const added = names.filter((name) => !before.has(name));
  const changed = names.filter((name) => before.has(name));
  await tools.events.emit(tx, cause, {
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
  tools: CustomProviderTools,
  environmentId: EnvironmentId,
  { connector, baseUrl, displayName }: ImportTarget,
  result: ImportResult,
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
      ? await updateCustomProvider(tx, tools, environmentId, present, change, cause)
      : { row: present, parked: 0 };
    if (edited) {
      await tools.events.emit(tx, cause, {
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
  // The identifier follows from the name that a provider is made with.
  const made = await createCustomProvider(tx, tools, environmentId, { ...definition, display_name: connector });
  if (made.identifier !== connector) {
    const errors = [{ field: 'connector', message: `is already used or invalid; ${made.identifier} is available` }];
    throw new ApiError('VALIDATION_FAILED', 'The provider cannot be created.', { errors });
  }
  const named = { display_name: displayName ?? result.title };
  const { row } = await updateCustomProvider(tx, tools, environmentId, made, named, cause);
  await tools.events.emit(tx, cause, {
    type: 'custom_provider.created',
    subject: row.id,
    data: (show) => ({ provider: show.provider(row) }),
  });
  return shown(row, 'created', 0);
}

/** Of a stored provider, what an import may change. */
interface Stored {
  proxy_url?: string;
  proxy_enabled?: boolean;
  display_name?: string;
}

/** Each place of an address, `https://{{subdomain}}.example.com`, is a value that every account must bring. */
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
