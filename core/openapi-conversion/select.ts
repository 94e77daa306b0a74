import type { Operation } from './operations.ts';
import type { LeftOutReason } from './report.ts';

type Data = Record<string, unknown>;

/** Selects operations. An operation matches if it matches at least one value of each given list. */
export interface OperationFilter {
  tags?: readonly string[];
  methods?: readonly string[];
  /** An exact path, or a prefix that ends with `*`. */
  paths?: readonly string[];
  /** Operation ids, or `METHOD /path`. */
  operations?: readonly string[];
}

export interface Selection {
  include?: OperationFilter;
  exclude?: OperationFilter;
  /** Whether to include deprecated operations; by default they are skipped. */
  deprecated?: boolean;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Returns why an operation is not converted to a tool, according to the document, its overlays (`x-tool`, `x-mcp`) and
 * the caller.
 *
 * @returns undefined if the operation is selected
 */
export function exclusionReason(operation: Operation, document: Data, selection: Selection): LeftOutReason | undefined {
  if (!METHODS.has(operation.method)) return 'METHOD';
  const marked = markOf(operation, document);
  if (marked === false) return 'EXCLUDED';
  if (operation.data['deprecated'] === true && !selection.deprecated && marked === undefined) return 'DEPRECATED';
  if (selection.include && !fits(operation, selection.include)) return 'EXCLUDED';
  if (selection.exclude && fits(operation, selection.exclude)) return 'EXCLUDED';
  return undefined;
}

/**
 * Returns whether `x-tool` or `x-mcp` selects the operation (true) or excludes it (false); undefined if neither is set.
 * The operation takes precedence over its path, and the path over the document. An object in the operation counts as
 * true.
 */
function markOf(operation: Operation, document: Data): boolean | undefined {
  for (const [level, holder] of [operation.data, operation.item, document].entries()) {
    for (const name of ['x-tool', 'x-mcp']) {
      const mark = holder[name];
      if (typeof mark === 'boolean') return mark;
      if (level === 0 && typeof mark === 'object' && mark !== null) return true;
    }
  }
  return undefined;
}

function fits({ data, method, path, operationId, sourceId }: Operation, filter: OperationFilter): boolean {
  const own = Array.isArray(data['tags']) ? data['tags'] : [];
  const { tags, methods, paths, operations } = filter;
  if (tags && !tags.some((tag) => own.includes(tag))) return false;
  if (methods && !methods.some((name) => name.toUpperCase() === method)) return false;
  if (paths && !paths.some((wanted) => (wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted)))
    return false;
  return !operations || operations.some((id) => id === operationId || id === sourceId);
}
