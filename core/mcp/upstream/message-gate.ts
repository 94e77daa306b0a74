import type { Scrubber } from '../../net/redact.ts';
import { isRecord } from '../../tools/pointer.ts';
import { parseMessage } from './json-bounds.ts';
import type { WireCall } from './wire-call.ts';
import { MessageFormatError } from './wire-errors.ts';

/** The request that messages are read for. */
export interface Asked {
  id: string | number;
  method: string;
  call: WireCall;
}

/** What the package is given of a message; `answered` when it is the response. */
export type Admitted = { message: object | undefined; answered: boolean };

type Data = Record<string, unknown>;

const MAX_WORDS = 500;
const DROPPED: Admitted = { message: undefined, answered: false };
/** JSON-RPC code for what failed on the wire: the package only has to know that there is no result. */
const FAILED = -32000;
const UNSUPPORTED_VERSION = -32022;

/**
 * Takes a message of an MCP server. Secrets are removed before anything else looks at it. What the server says about tools goes into the
 * call; the package is given an outline with the same meaning, so that a text of the server costs and breaks nothing there.
 *
 * @throws MessageLimitError, MessageFormatError
 */
export function admitMessage(text: string, scrub: Scrubber, asked: Asked): Admitted[] {
  const bytes = Buffer.from(text);
  const parsed = scrub.parsed(parseMessage(bytes), bytes);
  // Revision 2025-03-26 allows batches.
  return (Array.isArray(parsed) ? parsed : [parsed]).map((message) => admit(message, asked));
}

function admit(message: unknown, asked: Asked): Admitted {
  if (!isRecord(message)) throw new MessageFormatError('The MCP server sent a message that is not an object.');
  const { id, method } = message;
  if (typeof method === 'string') return id === undefined ? notification(message, method) : question(message, method);
  if (id !== asked.id) return DROPPED;
  return { message: { jsonrpc: '2.0', id, ...response(message, asked) }, answered: true };
}

/** The response that the package is given when there is none. */
export function failedMessage({ id }: Asked): object {
  return { jsonrpc: '2.0', id, error: { code: FAILED, message: 'failed' } };
}

/** Progress starts the time of a call again; nothing else that is told unasked is of use. */
function notification({ params }: Data, method: string): Admitted {
  if (method !== 'notifications/progress' || !isRecord(params)) return DROPPED;
  const { progressToken, progress, total, message } = params;
  const kept = {
    progressToken,
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: cut(message) }),
  };
  return { message: { jsonrpc: '2.0', method, params: kept }, answered: false };
}

/** A question of the server, which is told that we do not answer it; a ping is answered. */
function question({ id }: Data, method: string): Admitted {
  return { message: { jsonrpc: '2.0', id, method, params: {} }, answered: false };
}

function response({ result, error }: Data, { method, call }: Asked): object {
  if (isRecord(result)) {
    call.outcome = { kind: 'result', result };
    return { result: outlineOf(method, result) };
  }
  const { code, message, data } = isRecord(error) ? error : {};
  if (typeof code !== 'number') throw new MessageFormatError('The MCP server sent a response without a result.');
  call.outcome = { kind: 'error', code, message: typeof message === 'string' ? message : '' };
  // The versions that a server speaks are what the next attempt is made with.
  const supported = code === UNSUPPORTED_VERSION && isRecord(data) ? data['supported'] : undefined;
  const versions = Array.isArray(supported) ? supported.filter((one) => typeof one === 'string').slice(0, 20) : [];
  return {
    error: { code, message: cut(String(message ?? '')), ...(versions.length > 0 && { data: { supported: versions } }) },
  };
}

/** A result with the members that steer the package, and nothing else. */
function outlineOf(method: string, result: Data): object {
  if (result['resultType'] === 'input_required') {
    const { inputRequests, requestState } = result;
    const asked = Object.entries(isRecord(inputRequests) ? inputRequests : {}).map(([key, request]) => [
      key,
      { method: isRecord(request) ? request['method'] : undefined, params: {} },
    ]);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(asked), ...textMember({ requestState }) };
  }
  switch (method) {
    case 'tools/list':
      return { ...COMPLETE, tools: [] };
    case 'tools/call':
      return { ...COMPLETE, content: [] };
    case 'initialize':
      return { ...textMember({ protocolVersion: result['protocolVersion'] }), ...CAPABLE, serverInfo: SERVER };
    case 'server/discover':
      return { ...COMPLETE, supportedVersions: result['supportedVersions'], ...CAPABLE };
    default:
      return COMPLETE;
  }
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } as const;
/** Whether a server has tools shows when they are listed. */
const CAPABLE = { capabilities: { tools: {} } };
const SERVER = { name: 'server', version: '0' };

function textMember(member: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(member).filter(([, value]) => typeof value === 'string'));
}

function cut(text: string): string {
  return text.slice(0, MAX_WORDS).toWellFormed();
}
