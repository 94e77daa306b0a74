import type { PageContext } from '../connect/context.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';

/** A moment for users, which programs can read as well. @param at milliseconds UTC */
export function timeHtml({ texts }: PageContext, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${texts.dateTime(at)}</time>`;
}
