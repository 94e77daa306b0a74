const MAX_DECODINGS = 5;
/** A segment in which no character has a special meaning. */
const PLAIN_SEGMENT = /^[A-Za-z0-9_~-]+$/;
/**
 * A quick test that matches every path with a segment that a server could interpret as `.` or `..`. Such a segment
 * begins with a special character, or the path contains an escape or a non-ASCII character.
 */
const DOT_SEGMENT_RISK = /(?:^|\/)[^A-Za-z0-9_~/-]|%|[^ -~]/;
/** Invisible characters that some servers drop: soft hyphens, zero-width spaces, byte order marks. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Slashes, and characters that old Microsoft servers convert to slashes. */
const SLASHES = /[/\\\u2044\u2215]/;

/**
 * Returns why a value cannot be one segment of a path. Some servers and proxies decode a path several times, or cut it
 * at a semicolon (RFC 3986 §3.3). After each of these steps, a value must not be a dot segment or contain a slash, a
 * backslash or a control character.
 *
 * @returns the rest of a sentence whose subject is the value; undefined if the value is allowed
 */
export function segmentProblem(segment: string): string | undefined {
  if (PLAIN_SEGMENT.test(segment)) return undefined;
  if (segment === '') return 'must not be empty: it is part of the path';
  if (!segment.isWellFormed()) return 'must be well-formed Unicode';
  for (const form of decodings(segment)) {
    if (isDotSegment(form)) return 'must not be "." or "..", also not encoded: it is part of the path';
    if (/[/\\]/.test(form)) return 'must not contain a backslash or an encoded slash';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose
    if (/[\u0000-\u001f\u007f]/.test(form)) return 'must not contain control characters';
  }
  return undefined;
}

/** Whether a server could interpret a segment of this path as a dot segment. */
export function mayContainDotSegment(path: string): boolean {
  return DOT_SEGMENT_RISK.test(path) && path.split('/').some((segment) => decodings(segment).some(isDotSegment));
}

/**
 * Returns a text and its repeated decodings, or only `..` if it is encoded five times or more. Malformed escapes are
 * not changed.
 */
function decodings(text: string): string[] {
  const forms = [text];
  for (let round = 0; round < MAX_DECODINGS; round++) {
    const form = forms.at(-1) ?? '';
    const next = decoded(form);
    if (next === form) return forms;
    forms.push(next);
  }
  // No legitimate value is encoded this often, so it is treated as a dot segment.
  return ['..'];
}

/** Decodes percent-encoding, overlong UTF-8 and the `%u` escapes of old Microsoft servers. */
function decoded(text: string): string {
  return text
    .replace(/%(?:c|e0%8|f0%80%8)([01])%([89ab][0-9a-f])/gi, (_, first: string, last: string) =>
      String.fromCharCode((Number(first) << 6) | (Number.parseInt(last, 16) & 0x3f)),
    )
    .replace(/%u([0-9a-f]{4})/gi, fromHex)
    .replace(/(?:%[89a-f][0-9a-f])+/gi, fromUtf8)
    .replace(/%([0-7][0-9a-f])/gi, fromHex);
}

function fromUtf8(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

function fromHex(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/**
 * Whether a segment is `.` or `..` to some server. Only the part before the first semicolon, query or fragment counts.
 * Surrounding blanks, full-width dots and slashes, and characters that some servers drop are taken into account.
 */
function isDotSegment(segment: string): boolean {
  const name = (segment.split(/[;?#]/, 1)[0] ?? '').normalize('NFKC').replace(IGNORABLE, '');
  return name.split(SLASHES).some((piece) => /^\s*\.{1,2}\s*$/.test(piece));
}
