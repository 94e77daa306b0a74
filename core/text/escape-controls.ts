/**
 * Characters that control a terminal or change what a reader sees: control characters, line and paragraph separators,
 * invisible format characters such as those that reverse the direction, and lone surrogates. The two zero-width joiners
 * are excluded, because emoji and some scripts need them.
 */
export const CONTROLS = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Cs}/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Replaces control characters with visible escapes, so that text of providers or users cannot control the terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => SHORT[character] ?? codeOf(character));
}

function codeOf(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16);
  return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
}
