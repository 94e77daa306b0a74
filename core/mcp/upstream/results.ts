import { MCP_UPSTREAM, TOOL_RESULT } from '../../budgets.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { isRecord } from '../../tools/pointer.ts';
import { shrinkToFit } from '../../tools/shrink.ts';

/** A tool as a server lists it. */
export interface ListedTool {
  /** Undefined where it has none. */
  name: string | undefined;
  /** Everything that the server says about it, as JSON. */
  json: string;
}

/** One page of a list of tools. */
export interface ListedPage {
  /** As many as are read of one server. */
  tools: ListedTool[];
  /** How many tools the page has in all. */
  count: number;
  /** What all of them take as JSON without white space: close to what came, and never more. */
  bytes: number;
  nextCursor: string | undefined;
}

/** What is kept of the results of each method: never more than a few values, however many came. */
export interface UpstreamResults {
  'tools/call': ToolOutcome;
  /** Null for a list without tools. */
  'tools/list': ListedPage | null;
}

const MAX_ERROR_CHARS = 500;

/** Takes from a result what its caller needs. The results of other methods are not kept. */
export function readResult(method: string, result: Record<string, unknown>): unknown {
  if (method === 'tools/call') return readCall(result) satisfies UpstreamResults['tools/call'];
  if (method === 'tools/list') return readList(result) satisfies UpstreamResults['tools/list'];
  return undefined;
}

/** What a server returns as data is the data; what it returns for people to read stays as it is. */
function readCall({ structuredContent, content, isError }: Record<string, unknown>): ToolOutcome {
  const parts = Array.isArray(content) ? content : [];
  if (isError === true) {
    const texts = parts.flatMap((part) => (isRecord(part) && typeof part['text'] === 'string' ? [part['text']] : []));
    const words = texts.join(' ').slice(0, MAX_ERROR_CHARS).toWellFormed();
    const message = `The tool failed: ${words || 'no reason given'}`;
    const { value: upstreamBody } = shrinkToFit(structuredContent ?? parts, TOOL_RESULT.errorBodyBytes, false);
    return { ok: false, sent: true, error: { kind: 'upstream_bad_request', retryable: false, message, upstreamBody } };
  }
  const { value: data, truncated } = shrinkToFit(structuredContent ?? { content: parts }, TOOL_RESULT.dataBytes, false);
  return { ok: true, data, upstreamStatus: 200, ...(truncated && { truncated }) };
}

function readList({ tools, nextCursor }: Record<string, unknown>): ListedPage | null {
  if (!Array.isArray(tools)) return null;
  return {
    tools: tools
      .slice(0, MCP_UPSTREAM.tools)
      .map((tool: unknown) => ({ name: nameOf(tool), json: JSON.stringify(tool) })),
    count: tools.length,
    bytes: Buffer.byteLength(JSON.stringify(tools)),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
}

function nameOf(tool: unknown): string | undefined {
  const name = isRecord(tool) ? tool['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
