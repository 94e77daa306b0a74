import { CONTROLS } from '../../core/text/escape-controls.ts';

/** Returns JSON that cannot control a terminal. JSON.stringify leaves some control characters as they are. */
export function toJson(value: unknown, indent: 0 | 2 = 2): string {
  return escapeJsonLines(JSON.stringify(value, null, indent));
}

/**
 * Escapes control characters in JSON. They can only be in strings, where an escape means the same. Line breaks are
 * kept.
 */
export function escapeJsonLines(json: string): string {
  return json.replace(CONTROLS, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
          .join(''),
  );
}
