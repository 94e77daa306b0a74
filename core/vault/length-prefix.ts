const LENGTH_BYTES = 4;
const UTF_16 = 0x8000_0000;

/**
 * Joins parts so that different lists always give different bytes: each part is preceded by its length (4 bytes, big
 * endian). Text is encoded as UTF-8. Text with a lone surrogate, which UTF-8 cannot represent, is encoded as UTF-16,
 * and the highest bit of the length is set.
 */
export function lengthPrefixed(parts: readonly (string | Buffer)[]): Buffer {
  let size = 0;
  for (const part of parts) size += LENGTH_BYTES + byteLength(part);
  // A single buffer is used, because this runs for every decrypted credential.
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    const start = at + LENGTH_BYTES;
    const length = typeof part === 'string' ? out.write(part, start, encodingOf(part)) : part.copy(out, start);
    out.writeUInt32BE(typeof part === 'string' && !part.isWellFormed() ? length + UTF_16 : length, at);
    at = start + length;
  }
  return out;
}

function byteLength(part: string | Buffer): number {
  return typeof part === 'string' ? Buffer.byteLength(part, encodingOf(part)) : part.length;
}

function encodingOf(text: string): 'utf8' | 'utf16le' {
  return text.isWellFormed() ? 'utf8' : 'utf16le';
}
