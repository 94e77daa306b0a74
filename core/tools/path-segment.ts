const MAX_DECODINGS = 5;
/** Nothing in it is special to anyone. */
const PLAIN_SEGMENT = /^[A-Za-z0-9_~-]+$/;
/** Where a segment can begin that some reader takes for `.` or `..`: after a slash, or after what is decoded to one. */
const MAY_CLIMB = /(?:^|\/)[^A-Za-z0-9_~/-]|%|[^ -~]/;
/** Characters that no reader shows, and that some drop: soft hyphens, zero-width spaces, byte order marks. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Slashes, and characters that old Microsoft servers take for them. */
const SLASHES = /[/\\\u2044\u2215]/;

/**
 * Why a value cannot be one segment of a path, for every reader on the way: one that decodes several times, or cuts what follows a
 * semicolon (RFC 3986 §3.3), must not see a dot segment, a slash or a backslash either.
 *
 * @returns the rest of a sentence whose subject is the value; undefined when it can
 */
export function segmentProblem(segment: string): string | undefined {
  if (PLAIN_SEGMENT.test(segment)) return undefined;
  if (segment === '') return 'must not be empty: it is part of the path';
  if (!segment.isWellFormed()) return 'must be well-formed Unicode';
  for (const form of decodings(segment)) {
    if (isDotSegment(form)) return 'must not be a dot segment';
    if (/[/\\]/.test(form)) return 'must not contain a backslash or an encoded slash';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose
    if (/[\u0000-\u001f\u007f]/.test(form)) return 'must not contain control characters';
  }
  return undefined;
}

/** Whether a segment of a path, which is percent-encoded where it has to be, is a dot segment to some reader. */
export function climbs(path: string): boolean {
  return MAY_CLIMB.test(path) && path.split('/').some((segment) => decodings(segment).some(isDotSegment));
}

/** A text and what it becomes when it is decoded again and again; malformed escapes stay as they are. */
function decodings(text: string): string[] {
  const forms = [text];
  for (let round = 0; round < MAX_DECODINGS; round++) {
    const form = forms.at(-1) ?? '';
    const next = decoded(form);
    if (next === form) return forms;
    forms.push(next);
  }
  // Nothing honest is encoded so often; what it would become at last is not worth the time to find out.
  return ['..'];
}

/** Characters from percent-encoding, from UTF-8 that is longer than it may be, and from the form of old Microsoft servers. */
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
 * What counts is before the first semicolon, query or fragment. Blanks around it, other widths of the dot, and characters that some
 * readers drop make no difference, nor does a slash of another width.
 */
function isDotSegment(segment: string): boolean {
  const name = (segment.split(/[;?#]/, 1)[0] ?? '').normalize('NFKC').replace(IGNORABLE, '');
  return name.split(SLASHES).some((piece) => /^\s*\.{1,2}\s*$/.test(piece));
}
