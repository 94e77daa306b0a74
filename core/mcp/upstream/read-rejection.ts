import type { EgressStream } from '../../net/egress.ts';
import type { Scrubber } from '../../net/redact.ts';
import { isRecord } from '../../tools/pointer.ts';
import { readText } from './response-messages.ts';
import { MessageLimitError, StatusError } from './wire-errors.ts';

/** The response headers that are kept in the error. */
const ERROR_HEADERS = ['www-authenticate', 'retry-after'];
const ERROR_BYTES = 64 * 1024;
const EXPLANATION_LENGTH = 300;

/**
 * Reads the response of an MCP server that rejected a request, as its HTTP status says.
 *
 * @param scrub removes the secrets of the account from a text
 * @returns the error and its `body`: the text of the response without secrets, or an empty text if it is too large
 */
export async function readRejection(response: EgressStream, scrub: Scrubber): Promise<StatusError & { body: string }> {
  const { status, headers } = response;
  const budget = { bytes: ERROR_BYTES, lines: 0, hold: { bytes: ERROR_BYTES, grow: () => true }, read: 0 };
  const text = await readText(response, budget).catch((error) => {
    if (error instanceof MessageLimitError) return '';
    throw error;
  });
  const body = scrub(text);
  const errorHeaders = Object.fromEntries(
    ERROR_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, scrub(headers[name])]])),
  );
  return Object.assign(new StatusError(status, errorHeaders, explanationIn(body)), { body });
}

/**
 * Returns the start of the explanation in an error body: a JSON-RPC message, an OAuth error description, another usual
 * member, or the body itself if it is plain text. It is empty for HTML and for JSON without such a member.
 */
function explanationIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isRecord(parsed)) return '';
    const { error, error_description: description, message, detail } = parsed;
    const texts = [isRecord(error) ? error['message'] : undefined, description, message, detail, error];
    return cut(texts.find((text) => typeof text === 'string') ?? '');
  } catch {
    return /<[a-z!]/i.test(body) ? '' : cut(body);
  }
}

function cut(text: unknown): string {
  return String(text).slice(0, EXPLANATION_LENGTH).toWellFormed().trim();
}
