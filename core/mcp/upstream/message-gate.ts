import { MCP_UPSTREAM } from '../../budgets.ts';
import type { Scrubber } from '../../net/redact.ts';
import { isRecord } from '../../tools/pointer.ts';
import { parseMessage } from './json-bounds.ts';
import { readResult } from './results.ts';
import type { WireOutcome } from './wire-call.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/** The request whose response is being read. */
export interface PendingRequest {
  id: string | number;
  method: string;
}

/**
 * A message as the MCP SDK receives it; undefined if the SDK does not receive it. `outcome` is set if the message is
 * the response to the pending request.
 */
export type Admitted = { message: object | undefined; outcome?: WireOutcome };

type Data = Record<string, unknown>;

const MAX_WORDS = 500;
/** The maximum number of items of a list, or members of an object, that the MCP SDK receives. Others are left out. */
const MAX_MEMBERS = 20;
const DROPPED: Admitted = { message: undefined };
/** JSON-RPC error code for failures of the connection; the MCP SDK only needs to know that there is no result. */
const FAILED = -32000;
const UNSUPPORTED_VERSION = -32022;

/**
 * Reads a message of an MCP server, or a batch of messages, after removing secrets. The response to the pending request
 * becomes the outcome. The MCP SDK receives only an outline with the members that it needs, so that the server's texts
 * cannot slow down or break the MCP SDK.
 *
 * @param bytes UTF-8
 * @throws MessageLimitError, MessageFormatError
 */
export function admitMessage(bytes: Buffer, scrub: Scrubber, request: PendingRequest): Admitted[] {
  const parsed = scrub.parsed(parseMessage(bytes), bytes);
  // The revision 2025-03-26 allows batches.
  const messages = Array.isArray(parsed) ? parsed : [parsed];
  if (messages.length > MCP_UPSTREAM.messages) throw new MessageLimitError('messages');
  return messages.map((message) => admit(message, request));
}

function admit(message: unknown, request: PendingRequest): Admitted {
  if (!isRecord(message)) throw new MessageFormatError('The MCP server sent a message that is not an object.');
  const { id, method } = message;
  if (typeof method === 'string') return id === undefined ? notification(message, method) : asked(id, method);
  if (id !== request.id) return DROPPED;
  const { outline, outcome } = response(message, request);
  return { message: { jsonrpc: '2.0', id, ...outline }, outcome };
}

/** Returns the error response that the MCP SDK receives if the server's response cannot be read. */
export function failedMessage({ id }: PendingRequest): object {
  return { jsonrpc: '2.0', id, error: { code: FAILED, message: 'failed' } };
}

/** Keeps progress notifications, which restart the timeout of a call. Other notifications are dropped. */
function notification({ params }: Data, method: string): Admitted {
  if (method !== 'notifications/progress' || !isRecord(params)) return DROPPED;
  const { progressToken, progress, total, message } = params;
  if (!isId(progressToken) || typeof progress !== 'number') return DROPPED;
  const kept = {
    progressToken,
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: cut(message) }),
  };
  return { message: { jsonrpc: '2.0', method, params: kept } };
}

/**
 * Returns an outline of a request that the server sends to its client. The MCP SDK rejects all such requests except a
 * ping. A request with an invalid id is dropped.
 */
function asked(id: unknown, method: string): Admitted {
  return isId(id) ? { message: { jsonrpc: '2.0', id, method: cut(method), params: {} } } : DROPPED;
}

/** Whether an id is valid, and short enough to be sent back. */
function isId(id: unknown): id is string | number {
  return typeof id === 'number' || (typeof id === 'string' && id.length <= MAX_WORDS);
}

function response({ result, error }: Data, { method }: PendingRequest): { outline: object; outcome: WireOutcome } {
  if (isRecord(result)) {
    const outcome = { kind: 'result' as const, result: readResult(method, result) };
    return { outline: { result: outlineOf(method, result) }, outcome };
  }
  const { code, message, data } = isRecord(error) ? error : {};
  if (typeof code !== 'number')
    throw new MessageFormatError('The MCP server sent a response with neither a result nor an error code.');
  const words = typeof message === 'string' ? cut(message) : '';
  // The MCP SDK needs the supported versions, because it tries again with one of them.
  const versions = code === UNSUPPORTED_VERSION && isRecord(data) ? textsOf(data['supported']) : [];
  const told = { code, message: words, ...(versions.length > 0 && { data: { supported: versions } }) };
  return { outline: { error: told }, outcome: { kind: 'error', code, message: words } };
}

function textsOf(list: unknown): string[] {
  const members = Array.isArray(list) ? list.slice(0, MAX_MEMBERS) : [];
  return members.flatMap((member) => (typeof member === 'string' ? [cut(member)] : []));
}

/** Returns a result with only the members that the MCP SDK needs. */
function outlineOf(method: string, result: Data): object {
  if (result['resultType'] === 'input_required') {
    const { inputRequests, requestState } = result;
    const requests = Object.entries(isRecord(inputRequests) ? inputRequests : {}).slice(0, MAX_MEMBERS);
    const outlines = requests.map(([key, request]) => [
      key,
      { ...(isRecord(request) && textMember({ method: request['method'] })), params: {} },
    ]);
    const named = Object.fromEntries(outlines);
    return { resultType: 'input_required', inputRequests: named, ...textMember({ requestState }) };
  }
  switch (method) {
    case 'tools/list':
      return { ...COMPLETE, tools: [] };
    case 'tools/call':
      return { ...COMPLETE, content: [] };
    case 'resources/list':
      return { ...COMPLETE, resources: [] };
    case 'resources/templates/list':
      return { ...COMPLETE, resourceTemplates: [] };
    case 'resources/read':
      return { ...COMPLETE, contents: [] };
    case 'prompts/list':
      return { ...COMPLETE, prompts: [] };
    case 'prompts/get':
      return { ...COMPLETE, messages: [] };
    case 'initialize':
      return { ...textMember({ protocolVersion: result['protocolVersion'] }), ...CAPABLE, serverInfo: SERVER };
    case 'server/discover':
      return { ...COMPLETE, supportedVersions: textsOf(result['supportedVersions']), ...CAPABLE };
    default:
      return COMPLETE;
  }
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } as const;
/**
 * The capabilities that the MCP SDK receives for every server. Valetkey ignores the declared ones: only listing shows
 * whether a server really has tools, resources or prompts.
 */
const CAPABLE = { capabilities: { tools: {}, resources: {}, prompts: {} } };
const SERVER = { name: 'server', version: '0' };

function textMember(member: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(member).filter(([, value]) => typeof value === 'string'));
}

function cut(text: string): string {
  return text.slice(0, MAX_WORDS).toWellFormed();
}
