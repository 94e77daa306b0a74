/**
 * Characters that control a terminal or change what a reader sees: control characters, line and paragraph separators,
 * and invisible format characters such as those that reverse the direction. Joiners stay: emoji and some scripts need them.
 */
const CONTROLS = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Cs}/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes control characters visible, so that text of providers and users cannot drive the terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => SHORT[character] ?? codeOf(character));
}

/** Returns JSON for people and programs. JSON.stringify leaves some control characters as they are. */
export function toJson(value: unknown, indent: 0 | 2 = 2): string {
  return JSON.stringify(value, null, indent).replace(/\n|[^\n]+/g, (line) => (line === '\n' ? line : escapeJson(line)));
}

/** In JSON these characters can only be in strings, where an escape means the same. */
function escapeJson(line: string): string {
  return line.replace(CONTROLS, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

function codeOf(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16);
  return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
}
