import { TOOL_RESULT } from '../budgets.ts';
import { pickFields } from './fields.ts';
import { FileContent, OCTETS } from './file-content.ts';
import { fileOfBody, fileWithin } from './file-response.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import {
  failureMessage,
  isRetryable,
  type ReadProvider,
  responseFailure,
  type ToolError,
  type ToolOutcome,
  type Truncation,
} from './outcome.ts';
import { nextCursor } from './pagination.ts';
import { replaceAt } from './places.ts';
import { atPointer } from './pointer.ts';
import type { RequestFacts } from './request-draft.ts';
import { type DecodedBody, decodeBody, isJsonType, textOfBase64, UnreadableBodyError } from './response.ts';
import { headerOf, type ResponseHeaders } from './response-headers.ts';
import { lastLines, shrinkToFit } from './shrink.ts';
import type { Tool } from './tool.ts';
import type { Scrub, UpstreamResponse } from './wire.ts';

/** The parts of a call that reading its response needs. */
export interface ReadingFacts {
  tool: Pick<Tool, 'name' | 'hints' | 'errors' | 'response' | 'pagination'>;
  provider: ReadProvider;
  input: RequestFacts['input'];
  at?: RequestFacts['at'];
}

/** The data that is needed to read a response, apart from the call. */
export interface ReadingRules {
  /** Removes every secret of the call. */
  scrub: Scrub;
  /** Milliseconds UTC. */
  now(): number;
  /** The names of query parameters that contain the credential; these parameters never become part of a cursor. */
  hidden: readonly string[];
}

/**
 * The maximum factor by which a JSON text grows when it is parsed and serialized again. A response that stays below the
 * tool's size limit even with this growth is not measured. The worst cases are numbers (1e20) and decoded base64 of
 * control characters.
 */
const MAX_GROWTH = 8;

/**
 * Converts a response to the outcome of its call. Secrets are removed before anything is selected, truncated or used as
 * a cursor, so that no part of a secret can remain.
 */
export function readResponse(call: ReadingFacts, response: UpstreamResponse, rules: ReadingRules): ToolOutcome {
  const { headers } = response;
  const decoded = decode(headerOf(headers, 'content-type'), response);
  if (decoded instanceof UnreadableBodyError) return invalid(decoded.message, response.status);

  const body = scrubbed(decoded, response.body, rules);
  const json = body.kind === 'json' ? body.value : undefined;
  const failure = responseFailure(call.tool, call.provider, { status: response.status, headers, json }, rules.now());
  if (failure) {
    const error: ToolError = {
      kind: failure.kind,
      retryable: isRetryable(failure.kind, call.tool.hints.idempotent),
      retryAfterMs: failure.rate.retryAfterMs,
      upstreamStatus: response.status,
      upstreamBody: errorBody(body),
      message: rules.scrub(failureMessage(response.status, failure)),
    };
    return { ok: false, error, sent: true };
  }

  const page = { link: rules.scrub(headerOf(headers, 'link')), body: json };
  const cursor = nextCursor(call.tool, call.input, call.at, page, rules.hidden, rules.scrub);
  const { value: data, truncated } = dataOf(call.tool, body, response.body, headers, rules);
  return { ok: true, data, nextCursor: cursor, truncated, upstreamStatus: response.status };
}

/**
 * Decodes the body. With a status of 300 or more, the body is shown for diagnosis, so JSON that is invalid or too large
 * becomes text.
 */
function decode(
  contentType: string | undefined,
  { status, body }: UpstreamResponse,
): DecodedBody | UnreadableBodyError {
  try {
    const decoded = decodeBody(contentType, body);
    const isUnparsed = decoded.kind === 'binary' && isJsonType(decoded.mediaType);
    return status >= 300 && isUnparsed ? { kind: 'text', text: body.toString('utf8') } : decoded;
  } catch (error) {
    if (!(error instanceof UnreadableBodyError)) throw error;
    return status >= 300 ? { kind: 'text', text: body.toString('utf8') } : error;
  }
}

function scrubbed(body: DecodedBody, bytes: Buffer, { scrub }: ReadingRules): DecodedBody {
  if (body.kind === 'json') return { ...body, value: scrub.parsed(body.value, bytes) };
  if (body.kind === 'text') return { kind: 'text', text: scrub(body.text) };
  return body;
}

function dataOf(
  tool: ReadingFacts['tool'],
  body: DecodedBody,
  bytes: Buffer,
  headers: ResponseHeaders,
  { scrub }: ReadingRules,
): { value: unknown; truncated?: Truncation } {
  const { select = '', base64, markdown, fields, file, max_bytes = TOOL_RESULT.dataBytes, text } = tool.response ?? {};
  if (body.kind === 'empty') return { value: null };
  if (body.kind === 'binary' || file === true) return { value: scrubbedFile(fileOfBody(headers, bytes), scrub) };
  if (body.kind === 'text') {
    return text === 'end' ? lastLines(body.text, max_bytes) : shrinkToFit(body.text, max_bytes, false);
  }
  const found = file && fileWithin(file, body.value);
  if (found) return { value: scrubbedFile(found, scrub) };
  const selected = atPointer(body.value, select) ?? null;
  const kept = fields ? pickFields(selected, fields) : selected;
  const decodedTexts = base64 ? replaceAt(kept, base64, (value) => decoded(value, scrub)) : kept;
  const shown = markdown ? replaceAt(decodedTexts, markdown, (value) => asMarkdown(value, scrub)) : decodedTexts;
  if (!markdown && bytes.length * MAX_GROWTH <= max_bytes) return { value: shown };
  return shrinkToFit(shown, max_bytes, tool.pagination !== undefined);
}

/** Removes secrets from a file. A file without secrets keeps its exact bytes. */
function scrubbedFile({ name, mediaType, bytes }: FileContent, scrub: ReadingRules['scrub']): FileContent {
  const type = scrub(mediaType) === mediaType ? mediaType : OCTETS;
  return new FileContent(scrub(name), type, scrub.bytes(bytes));
}

/**
 * Decodes base64 text and removes secrets again, because line breaks in base64 can hide them. Base64 of bytes that are
 * not text is returned unchanged.
 */
function decoded(value: unknown, scrub: ReadingRules['scrub']): unknown {
  const text = typeof value === 'string' ? textOfBase64(value) : undefined;
  return text === undefined ? value : scrub(text);
}

/** Converts HTML to Markdown and removes secrets again, because entities and elements can hide them in HTML. */
function asMarkdown(value: unknown, scrub: ReadingRules['scrub']): unknown {
  return typeof value === 'string' ? scrub(htmlToMarkdown(value)) : value;
}

function errorBody(body: DecodedBody): unknown {
  if (body.kind === 'json') return shrinkToFit(body.value, TOOL_RESULT.errorBodyBytes, false).value;
  return body.kind === 'text' ? shrinkToFit(body.text, TOOL_RESULT.errorBodyBytes, false).value : undefined;
}

function invalid(message: string, upstreamStatus: number): ToolOutcome {
  return {
    ok: false,
    error: { kind: 'upstream_invalid_response', retryable: false, upstreamStatus, message },
    sent: true,
  };
}
