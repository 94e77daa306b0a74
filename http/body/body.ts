import type { IncomingMessage } from 'node:http';
import { BodyBuffer, type BodyRefusal } from '../../core/budgets/body-buffer.ts';
import { BODIES, REQUEST_BODY } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';
import type { BodyHold } from './body-hold.ts';
import type { BodyRule } from './body-rule.ts';
import { parseForm } from './form.ts';
import { parseJson } from './json.ts';
import type { ParsedJson } from './json-job.ts';

/** A body that was read and parsed. */
export interface ReadBody {
  /** undefined if the request has no body. */
  value: unknown;
  /** Size of the body in bytes. */
  bytes: number;
  /** SHA-256 of the bytes, if the body was parsed in a thread because of its size. */
  digest?: Buffer;
}

/** Parses JSON outside the event loop. */
export type ParseLarge = (bytes: Buffer) => Promise<ParsedJson>;

const NO_BODY: ReadBody = { value: undefined, bytes: 0 };

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads and parses a request body.
 *
 * @param parseLarge parses JSON that is larger than `rule.threadBytes`; without it, JSON of any size is parsed here
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, MALFORMED_BODY, VALIDATION_FAILED, SERVER_BUSY, and the
 * errors of `parseLarge`
 */
export function readBody(
  req: IncomingMessage,
  rule: BodyRule,
  hold: BodyHold,
  parseLarge?: ParseLarge,
): ReadBody | Promise<ReadBody> {
  const { format, maxBytes } = rule;
  if (!hasBody(req)) return NO_BODY;
  if (format === 'none') throw new ApiError('VALIDATION_FAILED', 'This operation does not accept a body.');
  checkMediaType(req, format);
  if (Number(req.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  return collect(req, rule, hold).then((bytes) => parse(bytes, rule, parseLarge));
}

/**
 * Reads a body that is forwarded without parsing.
 *
 * @returns undefined if the request has no body
 * @throws ApiError BODY_TOO_LARGE, MALFORMED_BODY, SERVER_BUSY
 */
export async function readRawBody(req: IncomingMessage, maxBytes: number, hold: BodyHold): Promise<Buffer | undefined> {
  const length = req.headers['content-length'];
  if (req.headers['transfer-encoding'] === undefined && length === undefined) return undefined;
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  return collect(req, { maxBytes, maxChunks: REQUEST_BODY.chunks }, hold);
}

function parse(bytes: Buffer, rule: BodyRule, parseLarge: ParseLarge | undefined): ReadBody | Promise<ReadBody> {
  const size = bytes.length;
  if (size === 0) return NO_BODY;
  if (rule.format === 'form') return { value: parseForm(bytes.toString('utf8'), rule), bytes: size };
  if (parseLarge && size > rule.threadBytes) return parseLarge(bytes).then((parsed) => ({ ...parsed, bytes: size }));
  return { value: parseJson(bytes), bytes: size };
}

function checkMediaType(req: IncomingMessage, format: BodyRule['format']): void {
  // The size limits count the received bytes. A small compressed body could become arbitrarily large when decompressed.
  if (req.headers['content-encoding'] && req.headers['content-encoding'] !== 'identity') {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'A compressed body is not supported. Send it without Content-Encoding.',
    );
  }
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  const expected = format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
  if (type.trim() !== expected) throw new ApiError('UNSUPPORTED_MEDIA_TYPE', `The Content-Type must be ${expected}.`);
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  if (charset && !/^charset="?utf-8"?$/.test(charset)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The charset must be UTF-8, also in the Content-Type.');
  }
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('BODY_TOO_LARGE', `The body must not be larger than ${maxBytes} bytes.`);
}

function refused(refusal: BodyRefusal, maxBytes: number): ApiError {
  if (refusal === 'size') return tooLarge(maxBytes);
  if (refusal === 'chunks')
    return new ApiError('MALFORMED_BODY', 'The body was sent in too many chunks. Send it in fewer, larger ones.');
  return new ApiError('SERVER_BUSY', 'The server does not have enough free memory for this body. Try again soon.');
}

function collect(
  req: IncomingMessage,
  { maxBytes, maxChunks }: Pick<BodyRule, 'maxBytes' | 'maxChunks'>,
  hold: BodyHold,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const free = BODIES.uncountedBytes;
    const body = new BodyBuffer({ maxBytes, maxChunks, hold, free });
    req.on('data', (chunk: Buffer) => {
      const refusal = body.add(chunk);
      if (refusal === undefined) return;
      req.removeAllListeners('data');
      reject(refused(refusal, maxBytes));
    });
    req.on('end', () => resolve(body.take()));
    const early = 'The connection ended before the whole body had arrived.';
    req.on('error', (cause) => reject(new ApiError('MALFORMED_BODY', early, { cause })));
  });
}
