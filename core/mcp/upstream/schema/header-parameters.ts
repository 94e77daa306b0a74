import { isRecord } from '../../../tools/pointer.ts';
import { subschemas } from './references.ts';

type Data = Record<string, unknown>;

/** An argument that a server also expects in a header (`x-mcp-header` in the MCP revision 2026-07-28). */
export interface HeaderParameter {
  /** The server's property names that lead to the argument. */
  path: string[];
  /** The part of the header's name after `Mcp-Param-`. */
  header: string;
}

export type HeaderParameters = { ok: true; headers: HeaderParameter[] } | { ok: false; reason: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const TYPES = new Set<unknown>(['boolean', 'integer', 'string']);
const MAX_HEADERS = 20;

/**
 * Reads from the server's input schema which arguments are also sent in headers. A tool with invalid declarations must
 * not be used (MCP revision 2026-07-28, Streamable HTTP).
 */
export function readHeaderParameters(schema: unknown): HeaderParameters {
  const headers: HeaderParameter[] = [];
  const seen = new Set<string>();
  const visit = (node: unknown, path: readonly string[] | null): string | undefined => {
    if (!isRecord(node)) return undefined;
    if (Object.hasOwn(node, 'x-mcp-header')) {
      const problem = declare(node, path);
      if (problem !== undefined) return problem;
    }
    for (const [[word, name], below] of subschemas(node)) {
      const next = path !== null && word === 'properties' && name !== undefined ? [...path, name] : null;
      const problem = visit(below, next);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const declare = (node: Data, path: readonly string[] | null): string | undefined => {
    const header = node['x-mcp-header'];
    if (path === null || path.length === 0) return 'x-mcp-header is only allowed on properties';
    if (typeof header !== 'string' || !TOKEN.test(header)) return 'x-mcp-header is not a valid header name';
    if (!TYPES.has(node['type'])) return 'x-mcp-header is only allowed on strings, integers and booleans';
    if (seen.has(header.toLowerCase())) return 'x-mcp-header uses a header name twice';
    seen.add(header.toLowerCase());
    headers.push({ path: [...path], header });
    return headers.length > MAX_HEADERS ? `x-mcp-header is declared on more than ${MAX_HEADERS} properties` : undefined;
  };
  const problem = visit(schema, []);
  return problem === undefined ? { ok: true, headers } : { ok: false, reason: problem };
}

/**
 * Returns the headers that repeat arguments. Values that a header cannot contain are encoded in base64. An argument
 * that is absent or has an unsuitable type gets no header.
 *
 * @param input with the server's property names
 */
export function headersOf(parameters: readonly HeaderParameter[], input: Readonly<Data>): Record<string, string> {
  return Object.fromEntries(
    parameters.flatMap(({ path, header }) => {
      const value = path.reduce<unknown>(
        (at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined),
        input,
      );
      const text = textOf(value);
      return text === undefined ? [] : [[`Mcp-Param-${header}`, encoded(text)]];
    }),
  );
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return undefined;
}

function encoded(text: string): string {
  const isPlain = /^[\x20-\x7e\t]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
