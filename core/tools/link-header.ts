/**
 * Returns the target of rel=next in a Link header (RFC 8288 §3); undefined if there is none. The untrusted header is
 * parsed without a regular expression, because backtracking in optional white space could take quadratic time.
 */
export function nextLink(header: string | undefined): string | undefined {
  for (const value of unquotedParts(header ?? '', ',')) {
    const [target = '', ...parameters] = unquotedParts(value, ';').map((part) => part.trim());
    if (!target.startsWith('<') || !target.endsWith('>')) continue;
    if (parameters.some(isNext)) return target.slice(1, -1);
  }
  return undefined;
}

/** Whether a parameter is rel=next or, for example, rel="last next". */
function isNext(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  if (equals === -1 || parameter.slice(0, equals).trim().toLowerCase() !== 'rel') return false;
  const value = parameter.slice(equals + 1).trim();
  return value.replaceAll('"', '').toLowerCase().split(/\s/).includes('next');
}

/** Splits at separators outside of quoted strings and <targets>. */
function unquotedParts(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let closing = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (closing !== '') {
      if (character === '\\' && closing === '"') at++;
      else if (character === closing) closing = '';
    } else if (character === '"') closing = '"';
    else if (character === '<') closing = '>';
    else if (character === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
