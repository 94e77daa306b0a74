import { createScrubber } from '../net/redact.ts';
import { FileContent } from '../tools/file-content.ts';
import { readResponse } from '../tools/read-response.ts';
import type { ReadResponse, ResponseToRead } from './read-response.ts';

/** Reads a response to a tool call; the worker thread of `readJob` calls this function. */
export function run({ facts, status, headers, body: given, secrets, hidden, now }: ResponseToRead): ReadResponse {
  const body = Buffer.from(given.buffer, given.byteOffset, given.length);
  const rules = { scrub: createScrubber(secrets), hidden, now: () => now };
  const outcome = readResponse(facts, { status, headers, body }, rules);
  if (!outcome.ok || !(outcome.data instanceof FileContent)) return { outcome };
  const { name, mediaType, bytes } = outcome.data;
  return { outcome: { ...outcome, data: null }, file: { name, mediaType, bytes: bytes === body ? 'body' : bytes } };
}
