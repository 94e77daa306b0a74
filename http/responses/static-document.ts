import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

/** Serves one document, and adds its headers to those of the response. */
export type StaticDocument = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface StaticDocumentOptions {
  type: string;
  /** How long clients may cache it, in seconds; by default they check each time whether it has changed. */
  maxAgeSeconds?: number;
  /** Whether the address names this version of the document, so that clients never need to check it again. */
  isImmutable?: boolean;
  /** The document in content codings, if it was compressed before. */
  compressed?: Partial<Record<Coding, Buffer>>;
}

/** A document in one content coding, or without one. */
interface Representation {
  bytes: Buffer;
  etag: string;
}

type Coding = 'br' | 'gzip';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** A higher quality takes seconds for the reference viewer and saves only a few percent. */
const BROTLI_QUALITY = 5;
const COMPRESS: Record<Coding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/**
 * Creates a document that all responses share, so that it is in memory once per content coding, even if many clients
 * request it and do not read. It is compressed at the first request for a coding (RFC 9110 §8.4, §12.5.3), and not sent
 * to clients that have it (§13.1.2).
 */
export function createStaticDocument(content: string | Buffer, options: StaticDocumentOptions): StaticDocument {
  const plain = Buffer.from(content);
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
  const identity: Representation = { bytes: plain, etag: `"${digest}"` };
  const compressed = new Map<Coding, Promise<Representation>>();
  const cacheControl = cacheControlOf(options);

  function representationOf(coding: Coding | undefined): Representation | Promise<Representation> {
    if (coding === undefined) return identity;
    const known = compressed.get(coding);
    if (known) return known;
    const given = options.compressed?.[coding];
    const bytes = given ? Promise.resolve(given) : COMPRESS[coding](plain);
    const made = bytes.then((bytes) => ({ bytes, etag: `"${digest}-${coding}"` }));
    compressed.set(coding, made);
    // The next request tries again after a failure, for example of memory.
    made.catch(() => compressed.delete(coding));
    return made;
  }

  return async (req, res) => {
    const coding = acceptedCoding(req.headers['accept-encoding']);
    const { bytes, etag } = await representationOf(coding);
    const isKnown = matches(req.headers['if-none-match'], etag);
    const headers = { etag, 'cache-control': cacheControl, vary: 'accept-encoding' };
    if (isKnown) {
      res.writeHead(304, headers).end();
      return;
    }
    res.writeHead(200, {
      ...headers,
      'content-type': options.type,
      'content-length': bytes.length,
      ...(coding && { 'content-encoding': coding }),
    });
    res.end(req.method === 'HEAD' ? undefined : bytes);
  };
}

function cacheControlOf({ maxAgeSeconds, isImmutable }: StaticDocumentOptions): string {
  if (isImmutable) return `max-age=${YEAR_SECONDS}, immutable`;
  return maxAgeSeconds === undefined ? 'no-cache' : `max-age=${maxAgeSeconds}`;
}

/** At most three digits (RFC 9110 §12.4.2). With any number of digits, matching would take quadratic time. */
const WEIGHT = /^q=(?:1(?:\.0{0,3})?|0?\.\d{1,3})$/;

/** Returns the best coding that the client accepts; undefined for none. Entries with an invalid weight are ignored. */
function acceptedCoding(header: string | string[] | undefined): Coding | undefined {
  const accepted = String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((item) => item.split(';').map((part) => part.trim()))
    .filter(([, weight = 'q=1']) => WEIGHT.test(weight) && /[1-9]/.test(weight))
    .map(([name]) => name);
  return (['br', 'gzip'] as const).find((coding) => accepted.includes(coding));
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const listed = header.split(',').map((item) => item.trim().replace(/^W\//, ''));
  return listed.includes(etag) || listed.includes('*');
}
