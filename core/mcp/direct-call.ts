import { isRecord } from '../tools/pointer.ts';

/** A `tools/call` request that is served without the MCP SDK, because the SDK takes longer. */
export interface DirectCall {
  /** `modern`: the revision 2026-07-28. `legacy`: an older one. */
  era: 'modern' | 'legacy';
  id: string | number;
  name: string;
  input: Record<string, unknown>;
  /** Whether the client has requested progress notifications. */
  wantsProgress: boolean;
  /** The `Mcp-Session-Id` header, which only older revisions use; undefined if it is absent. */
  sessionId: string | undefined;
}

const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18'];
const META = 'io.modelcontextprotocol/';
const ENVELOPE = {
  version: `${META}protocolVersion`,
  client: `${META}clientInfo`,
  capabilities: `${META}clientCapabilities`,
};
type Headers = Readonly<Record<string, string | string[] | undefined>>;

const INTERNAL_ERROR = -32603;
const NAME = /^[a-z0-9_]{1,64}$/;

/**
 * Recognizes a plain `tools/call` request that follows the protocol exactly. All other requests, including malformed
 * ones, are left to the MCP SDK, which implements the whole protocol and its errors.
 *
 * @param body the parsed body
 * @returns undefined if the MCP SDK must serve the request
 */
export function readDirectCall(headers: Headers, body: unknown): DirectCall | undefined {
  if (!isRecord(body) || !hasOnly(body, ['jsonrpc', 'id', 'method', 'params'])) return undefined;
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id) || !takesBothTypes(headers)) return undefined;
  if (!isRecord(params) || !hasOnly(params, ['name', 'arguments', '_meta'])) return undefined;
  const { name, arguments: input = {}, _meta: meta = {} } = params;
  if (typeof name !== 'string' || !NAME.test(name) || !isRecord(input) || !isRecord(meta)) return undefined;
  const era = eraOf(headers, name, meta);
  const { progressToken } = meta;
  if (era === undefined || !(progressToken === undefined || isId(progressToken))) return undefined;
  const sessionId = headers['mcp-session-id'] as string | undefined;
  return { era, id, name, input, wantsProgress: progressToken !== undefined, sessionId };
}

/** Returns the body of the response. In the newer revision, a result also contains its type and the server's info. */
export function directResponse({ era, id }: DirectCall, result: object, serverInfo: object): string {
  const shown =
    era === 'modern' ? { ...result, resultType: 'complete', _meta: { [`${META}serverInfo`]: serverInfo } } : result;
  return JSON.stringify({ result: shown, jsonrpc: '2.0', id });
}

/** Returns the body of the response to a call that failed because of a fault in Valetkey. */
export function directFailure({ id }: DirectCall): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: 'Internal error' } });
}

function eraOf(headers: Headers, name: string, meta: Record<string, unknown>): DirectCall['era'] | undefined {
  const version = headers['mcp-protocol-version'];
  if (version === MODERN) {
    const isNamed = headers['mcp-method'] === 'tools/call' && headers['mcp-name'] === name;
    return isNamed && headers['mcp-session-id'] === undefined && isEnvelope(meta) ? 'modern' : undefined;
  }
  const isPlain = headers['mcp-method'] === undefined && headers['mcp-name'] === undefined;
  return LEGACY.includes(String(version)) && isPlain && hasOnly(meta, ['progressToken']) ? 'legacy' : undefined;
}

/**
 * Whether `_meta` has the version, the client and its capabilities in the form that the newer revision requires, and
 * nothing else except a progress token. The MCP SDK handles any other content.
 */
function isEnvelope(meta: Record<string, unknown>): boolean {
  const { version, client, capabilities } = ENVELOPE;
  if (!hasOnly(meta, [version, client, capabilities, 'progressToken']) || meta[version] !== MODERN) return false;
  const info = meta[client];
  const declared = meta[capabilities];
  const isNamed = isRecord(info) && hasOnly(info, ['name', 'version', 'title']) && Object.values(info).every(isText);
  if (!isNamed || !isText(info['name']) || !isText(info['version']) || !isRecord(declared)) return false;
  return Object.values(declared).every((options) => isRecord(options) && Object.values(options).every(isRecord));
}

function takesBothTypes({ accept = '', 'content-type': type = '' }: Headers): boolean {
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    /^application\/json *(;|$)/i.test(String(type))
  );
}

function hasOnly(object: Record<string, unknown>, names: readonly string[]): boolean {
  return Object.keys(object).every((key) => names.includes(key));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isId(value: unknown): value is string | number {
  return isText(value) || Number.isSafeInteger(value);
}
