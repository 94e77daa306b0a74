import type { PageContext } from '../connect/context.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';

/** A time for users, with a machine-readable value. @param at milliseconds UTC */
export function timeHtml({ texts }: PageContext, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${texts.dateTime(at)}</time>`;
}
