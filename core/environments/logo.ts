import { createHash } from 'node:crypto';
import { LOGO } from '../budgets.ts';
import { malformedSvg } from './svg.ts';

export interface Logo {
  mediaType: 'image/png' | 'image/jpeg' | 'image/svg+xml';
  bytes: Buffer;
  /** A hash of the bytes. It is part of the address of a logo, so that browsers can cache the logo. */
  digest: string;
}

const DATA_URL = /^data:(image\/png|image\/jpeg|image\/svg\+xml);base64,([A-Za-z0-9+/]+={0,2})$/;

/**
 * Reads a logo, and rejects mistakes and images that would be costly to draw. Pages do not depend on these checks for
 * their security: they contain a logo only as an image, and the response with the logo has a strict content security
 * policy.
 *
 * @param dataUrl a `data:` URL in base64
 * @returns the logo, or what is wrong with it
 */
export function readLogo(dataUrl: string): Logo | { problem: string } {
  const [, type, base64 = ''] = DATA_URL.exec(dataUrl) ?? [];
  if (type === undefined) return { problem: 'must be a data: URL in base64 with a PNG, JPEG or SVG image' };
  const mediaType = type as Logo['mediaType'];
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > LOGO.bytes) return { problem: `must have at most ${LOGO.bytes / 1024} KiB` };
  const problem = CHECKS[mediaType](bytes);
  if (problem) return { problem };
  return { mediaType, bytes, digest: createHash('sha256').update(bytes).digest('base64url').slice(0, 16) };
}

const CHECKS: Record<Logo['mediaType'], (bytes: Buffer) => string | undefined> = {
  'image/png': (bytes) => sizeProblem('PNG', pngSize(bytes)),
  'image/jpeg': (bytes) => sizeProblem('JPEG', jpegSize(bytes)),
  'image/svg+xml': svgProblem,
};

interface Size {
  width: number;
  height: number;
}

function sizeProblem(format: string, size: Size | undefined): string | undefined {
  if (!size || size.width === 0 || size.height === 0) return `is not a ${format} image`;
  const isTooLarge = Math.max(size.width, size.height) > LOGO.pixels;
  return isTooLarge ? `must have at most ${LOGO.pixels} pixels in each direction` : undefined;
}

const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

function pngSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || !bytes.subarray(0, PNG_START.length).equals(PNG_START)) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Reads the segments of a JPEG file until the one that starts a frame, which contains the size. */
function jpegSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    const startsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (startsFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

/** Contents of an SVG image that run code, load other resources, or expand when the image is parsed. */
const FORBIDDEN_IN_SVG: readonly [RegExp, string][] = [
  [/<!(?:doctype|entity)/i, 'a document type or entities'],
  [/<(?:[\w-]+:)?(?:script|foreignobject|iframe|embed|object)\b/i, 'scripts or embedded documents'],
  [/[\s"'/]on[a-z]+\s*=/i, 'event handlers'],
  [/(?:href|src)\s*=["'\s]*(?!["'\s#]|data:image\/(?:png|jpeg);)[^>]/i, 'references to other addresses'],
  [/url\(["'\s]*(?!["'\s#])[^)]|@import/i, 'references to other addresses'],
];

function svgProblem(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) return 'must be UTF-8 text';
  if (!/^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*>\s*)*<svg[\s>]/.test(text)) return 'is not an SVG image';
  const found = FORBIDDEN_IN_SVG.find(([pattern]) => pattern.test(text));
  return found ? `must not contain ${found[1]}` : malformedSvg(text);
}
