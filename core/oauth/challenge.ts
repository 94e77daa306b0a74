/** The requirements for a token in a 401 or 403 response (RFC 6750 §3, RFC 9728 §5.1). */
export interface BearerChallenge {
  /** For example `invalid_token` or `insufficient_scope`. */
  error?: string;
  scopes?: string[];
  /** The address of the resource's metadata. */
  resourceMetadata?: string;
}

const MAX_HEADER = 4096;
const MAX_SCOPES = 100;
/** A parameter of a challenge (RFC 9110 §11.2). Its value is a token, or a quoted string with escapes. */
const PARAMETER = /([!#$%&'*+\-.^_`|~\w]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+\-.^_`|~\w/:]+))/g;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const BEARER = /(?:^|,)\s*bearer(?=[\s,]|$)/i;
/** The beginning of another challenge: a scheme, and a parameter or a token after it. */
const NEXT = /,\s*[!#$%&'*+\-.^_`|~\w]+\s+[!#$%&'*+\-.^_`|~\w]/;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/;

/**
 * Reads the Bearer challenge of a WWW-Authenticate header.
 *
 * @param header all values of the header; challenges of other schemes are ignored
 * @returns undefined if there is no Bearer challenge
 */
export function readBearerChallenge(
  header: string | readonly string[] | null | undefined,
): BearerChallenge | undefined {
  for (const value of [header ?? []].flat()) {
    const text = value.slice(0, MAX_HEADER);
    // Quoted strings are masked, because they can contain commas and the names of schemes.
    const outline = text.replace(QUOTED, (quoted) => `"${'_'.repeat(quoted.length - 2)}"`);
    const found = BEARER.exec(outline);
    if (!found) continue;
    const start = found.index + found[0].length;
    const next = outline.slice(start).search(NEXT);
    return readParameters(text.slice(start, next < 0 ? undefined : start + next));
  }
  return undefined;
}

function readParameters(text: string): BearerChallenge {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(PARAMETER)) {
    const value = quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1');
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  const scopes = found
    .get('scope')
    ?.split(' ')
    .filter((scope) => SCOPE.test(scope))
    .slice(0, MAX_SCOPES);
  const error = found.get('error');
  const resourceMetadata = found.get('resource_metadata');
  return {
    ...(error !== undefined && { error }),
    ...(scopes && scopes.length > 0 && { scopes }),
    ...(resourceMetadata !== undefined && { resourceMetadata }),
  };
}
