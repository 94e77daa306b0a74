import { MCP_UPSTREAM, TOOL_RESULT } from '../../budgets.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { isRecord } from '../../tools/pointer.ts';
import { shrinkToFit } from '../../tools/shrink.ts';
import { type Content, type ListedContents, readContents } from './content-results.ts';

/** A tool in the list of an MCP server. */
export interface ListedTool {
  /** undefined if the tool has no name. */
  name: string | undefined;
  /** The tool's complete definition, as JSON. */
  json: string;
}

/** One page of a list of tools. */
export interface ListedPage {
  /** At most `MCP_UPSTREAM.tools` of the page's tools. */
  tools: ListedTool[];
  /** How many tools the page contains in total. */
  count: number;
  /** The size in bytes of all tools of the page, as JSON without white space, after secrets were removed. */
  bytes: number;
  nextCursor: string | undefined;
}

/** The type of each method's result, after the parts that Valetkey does not use were removed. */
export interface UpstreamResults {
  'tools/call': ToolOutcome;
  /** null for a response without a list of tools. */
  'tools/list': ListedPage | null;
  // The results of the methods below are null if the response does not have the form that the method requires.
  'resources/list': ListedContents | null;
  'resources/templates/list': ListedContents | null;
  'prompts/list': ListedContents | null;
  'resources/read': Content | null;
  'prompts/get': Content | null;
}

const MAX_ERROR_CHARS = 500;

/** Returns the part of a method's result that is kept; undefined for methods that `UpstreamResults` does not list. */
export function readResult(method: string, result: Record<string, unknown>): unknown {
  if (method === 'tools/call') return readCall(result) satisfies UpstreamResults['tools/call'];
  if (method === 'tools/list') return readList(result) satisfies UpstreamResults['tools/list'];
  return readContents(method, result);
}

/**
 * Converts the result of a call to an outcome. The outcome's data is the structured content, or the content list if
 * there is no structured content. If the data is too large, parts of it are left out. A result with `isError` becomes a
 * failure, whose message contains the texts of the content list.
 */
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
