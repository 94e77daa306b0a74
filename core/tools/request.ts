import type { PlacedCredential, PlacedPart } from '../connectors/credential.ts';
import { MASK } from '../secret.ts';
import { type RenderedBody, renderBody } from './body.ts';
import { draftRequest, type RequestDraft, type RequestFacts, reservedHeaderError, scopeOf } from './request-draft.ts';
import { encodeUnreserved } from './template.ts';
import type { Tool } from './tool.ts';

/** A request that is ready to be sent. Header names are in lower case. */
export interface RenderedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
  /** The body as it is shown to users, for example by a dry run. */
  preview: unknown;
  /** Texts that must not appear in the response. */
  secrets: string[];
}

/**
 * Renders the request of a call: its draft with the placed credential.
 *
 * @param credential where the credential is placed; its parts are added last and cannot be replaced
 * @param options `masked`: show the masked credential instead of its value (dry run)
 * @throws ApiError as `draftRequest`; INVALID_TOOL_INPUT if the input sets the header of the credential, or if the
 * credential belongs in the body and cannot be added to it
 */
export function renderRequest(
  facts: RequestFacts & { draft?: RequestDraft | undefined },
  credential: PlacedCredential,
  options: { masked?: boolean } = {},
): RenderedRequest {
  const { tool } = facts;
  const draft = facts.draft ?? draftRequest(facts);
  const shown = (part: PlacedPart) => (options.masked ? part.masked : part.value);
  const encode = options.masked ? encodeMasked : encodeUnreserved;

  const members = credential.parts.filter((part) => part.in === 'body');
  const body = members.length === 0 ? draft.body : bodyWith(facts, members, shown);
  const headers: Record<string, string> = { ...draft.headers };
  if (body !== undefined) headers['content-type'] = body.type;
  let cookies = '';
  let search = draft.query;
  for (const part of credential.parts) {
    if (part.in === 'header') headers[freeHeader(part.name, tool, draft)] = shown(part);
    else if (part.in === 'cookie') cookies = joined(cookies, '; ', `${part.name}=${shown(part)}`);
    else if (part.in === 'query') search = joined(search, '&', `${encodeUnreserved(part.name)}=${encode(shown(part))}`);
  }
  if (cookies !== '') headers['cookie'] = cookies;
  return {
    method: tool.request.method,
    url: search === '' ? draft.address : `${draft.address}?${search}`,
    headers,
    body: body?.content,
    preview: body?.preview,
    secrets: credential.secrets,
  };
}

function joined(text: string, separator: string, more: string): string {
  return text === '' ? more : text + separator + more;
}

function bodyWith(
  facts: RequestFacts,
  members: readonly PlacedPart[],
  shown: (part: PlacedPart) => string,
): RenderedBody | undefined {
  const pairs = members.map((part) => [part.name, shown(part)] as const);
  return renderBody(facts.tool, scopeOf(facts), facts.at, pairs);
}

/** Returns the header name of a credential after checking that the caller has not set this header. */
function freeHeader(name: string, tool: Tool, { callerHeaders }: RequestDraft): string {
  const lower = name.toLowerCase();
  const taken = callerHeaders.find((chosen) => chosen.toLowerCase() === lower);
  if (taken !== undefined) throw reservedHeaderError(tool, taken);
  return lower;
}

/** Percent-encodes a value but leaves the mask readable in the address of a dry run. */
function encodeMasked(value: string): string {
  return value.split(MASK).map(encodeUnreserved).join(MASK);
}
