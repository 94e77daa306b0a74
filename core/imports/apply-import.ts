import { contentHash, type EnvironmentId, type Transaction } from '../../db/store.ts';
import type { CustomProviderDeps } from '../connections/custom.ts';
import { deleteTools } from '../connections/delete-tools.ts';
import { requireToolSpace } from '../discovery/tool-space.ts';
import type { Cause } from '../events/events.ts';
import type { ImportResult } from '../openapi-conversion/import-document.ts';
import { inBatches } from '../scheduling/in-batches.ts';
import { applyProvider, type ImportedProvider, type ImportTarget } from './apply-provider.ts';
import { importedTools } from './names-before.ts';

/** The changes of an import, or of its preview. */
export interface ImportChanges {
  provider: ImportedProvider;
  /** Tool names, sorted. */
  added: string[];
  changed: string[];
  removed: string[];
  unchanged: number;
}

/**
 * Stores an import: the provider if it is new, and its tools. Tools that an earlier import stored and this import does
 * not contain are deleted; custom tools, which API clients wrote, stay. An existing provider keeps its authorization
 * patterns, and also its address and its display name unless the request contains them. Everything happens in one
 * transaction. The tools are processed in batches, between which other requests are served, because thousands of tools
 * would block the event loop for too long.
 *
 * @throws ApiError INVALID_DOCUMENT if neither the request nor the document contains a base address;
 * VALIDATION_FAILED, INVALID_AUTH_PATTERN, PROVIDER_IN_USE
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
    importedTools(await tx.environmentTools.entriesOf(environmentId, target.connector)).map((row) => [row.name, row]),
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
