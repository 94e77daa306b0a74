import { IMPORT } from '../budgets.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { isRecord } from '../tools/pointer.ts';
import type { Tool } from '../tools/tool.ts';
import { danglingReferences } from './dangling.ts';
import { isCredential } from './exposure.ts';
import { importError } from './import-error.ts';
import { loadDocument, parseText, type SourceFile } from './load.ts';
import { nameTools } from './names.ts';
import { normalise } from './normalise.ts';
import { type DocumentContext, makeTool } from './operation.ts';
import { extension, listOperations, type Operation } from './operations.ts';
import { applyOverlay } from './overlay.ts';
import { readParameters } from './parameters.ts';
import { PathWork } from './path-work.ts';
import { plainText } from './plain-text.ts';
import type { ImportReport, LeftOut, OperationRef } from './report.ts';
import { PathError } from './request.ts';
import { createResolver } from './resolve.ts';
import { createSchemaReader } from './schema-view.ts';
import { readSecurity } from './security.ts';
import { exclusionReason, type Selection } from './select.ts';
import { readServers } from './servers.ts';

/** The document to import, and the options of the import. */
export interface ImportRequest extends Selection {
  /** One document, as one file or as a bundle of files that refer to each other. */
  files: readonly SourceFile[];
  /** Overlay documents, applied in order. */
  overlays?: readonly SourceFile[];
  /** The identifier of the provider that the tools belong to. */
  connector: string;
  /** The tool names of earlier imports, by source id (method and path); these operations keep their names. */
  names?: ReadonlyMap<string, string>;
  /** Names that other tools already have. */
  taken?: readonly string[];
  /** The maximum number of tools; further operations are skipped. */
  limit?: number;
  /** Called from time to time with the number of processed operations. */
  progress?(done: number, of: number): void;
}

/** The result of an import. */
export interface ImportResult {
  title: string;
  description: string;
  /** An absolute https address, or an http address of this machine; undefined if the document names none. */
  baseUrl: string | undefined;
  authPatterns: AuthPattern[];
  /** In the document's order. */
  tools: { sourceId: string; tool: Tool }[];
  report: ImportReport;
}

const DEFAULT_LIMIT = 300;
const PROGRESS_EVERY = 50;

/**
 * Converts an OpenAPI document to tools. Each stage has its own module. An invalid operation does not fail the import;
 * the report gives the reason.
 *
 * @throws ApiError INVALID_DOCUMENT if the document or an overlay is invalid or exceeds a limit, or if the document has
 *   no operations
 */
export async function importDocument(request: ImportRequest): Promise<ImportResult> {
  const document = await normalise(loadDocument(request.files));
  const work = new PathWork(IMPORT.overlayNodes, IMPORT.patternSteps);
  const unused = (request.overlays ?? []).flatMap(({ name, text }, index) =>
    applyOverlay(document, parseText(text, name), `overlays[${index}]`, work),
  );

  const resolve = createResolver(document);
  const operations = listOperations(document, resolve);
  if (operations.length === 0) throw importError('files', 'must describe at least one operation');
  const leftOut: LeftOut[] = [];
  const selected = select(operations, document, request, leftOut);

  const security = readSecurity(document, resolve, unnamedCredentials(selected, resolve));
  const servers = readServers(document, selected);
  const names = nameTools(request.connector, selected.map(nameSource), request.names, request.taken);
  const context: DocumentContext = {
    connector: request.connector,
    resolve,
    read: createSchemaReader(resolve),
    security,
  };

  const tools: ImportResult['tools'] = [];
  const notes: ImportReport['notes'] = [];
  for (const [index, operation] of selected.entries()) {
    if (index % PROGRESS_EVERY === 0) request.progress?.(index, selected.length);
    const ref = refOf(operation);
    const prefix = servers.prefixOf(operation);
    if (prefix === undefined) {
      leftOut.push({ ...ref, reason: 'OTHER_SERVER' });
      continue;
    }
    try {
      const name = names.get(operation.sourceId) as string;
      const made = makeTool(operation, name, prefix, context);
      tools.push({ sourceId: operation.sourceId, tool: made.tool });
      notes.push(...made.notes.map((note) => ({ ...ref, ...note })));
    } catch (error) {
      const detail = plainText(error instanceof Error ? error.message : String(error), 300);
      leftOut.push({ ...ref, reason: error instanceof PathError ? 'PATH' : 'UNREADABLE', detail });
    }
  }
  request.progress?.(selected.length, selected.length);

  const info = isRecord(document['info']) ? document['info'] : {};
  return {
    title: plainText(info['title'], 200) || request.connector,
    description: plainText(info['description'], 1000),
    baseUrl: servers.baseUrl,
    authPatterns: security.patterns,
    tools,
    report: {
      operations: operations.length,
      imported: tools.length,
      left_out: leftOut,
      notes,
      credentials: security.notes,
      warnings: [
        ...servers.warnings,
        ...security.warnings,
        ...danglingReferences(document, resolve),
        ...unused.map((target) => `The overlay's target ${target.slice(0, 200)} selects nothing.`),
      ],
    },
  };
}

function select(
  operations: Operation[],
  document: Record<string, unknown>,
  request: ImportRequest,
  leftOut: LeftOut[],
): Operation[] {
  const limit = request.limit ?? DEFAULT_LIMIT;
  const selected: Operation[] = [];
  for (const operation of operations) {
    const reason =
      exclusionReason(operation, document, request) ?? (selected.length >= limit ? 'OVER_LIMIT' : undefined);
    if (reason === undefined) selected.push(operation);
    else leftOut.push({ ...refOf(operation), reason });
  }
  return selected;
}

/** Returns parameters that look like credentials by their names, for documents without a usable security scheme. */
function unnamedCredentials(operations: readonly Operation[], resolve: ReturnType<typeof createResolver>) {
  return operations.flatMap((operation) =>
    readParameters(operation, resolve).filter((parameter) => isCredential(parameter, new Set())),
  );
}

function nameSource(operation: Operation) {
  const { sourceId, operationId, method, path, data } = operation;
  const wanted = extension(data, 'x-tool')['name'] ?? extension(data, 'x-gram')['name'];
  return {
    sourceId,
    method,
    path,
    ...(operationId !== undefined && { operationId }),
    ...(typeof wanted === 'string' && { wanted }),
  };
}

function refOf({ sourceId, operationId }: Operation): OperationRef {
  return { source_id: sourceId, ...(operationId !== undefined && { operation_id: operationId }) };
}
