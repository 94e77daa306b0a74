import type { Html } from './html.ts';
import { html } from './html.ts';

/** A word that may be wider than a narrow page. */
const LONG = /\S{18}/;
/** The points at which a word may break: after a slash or a colon, and before other signs, such as `@` and `.`. */
const POINTS = /(?<=[/:])(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}])(?=[@.?&=+_#~][\p{L}\p{N}])/u;

/**
 * Allows long identifiers and addresses to break at `POINTS`. Without breaks, they would be wider than narrow pages.
 */
export function breakable(text: string): Html {
  if (!LONG.test(text)) return html`${text}`;
  return html`${text.split(POINTS).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
}
