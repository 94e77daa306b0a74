import type { PageContext } from '../connect/context.ts';
import { layout, type Page } from '../connect/layout.ts';
import { html } from '../html.ts';

/** The page without a portal session: it was never opened in this browser, has expired, or the user has signed out. */
export function portalOverPage(context: PageContext): Page {
  const { texts, brand } = context;
  const title = texts.plain('portal.over_title');
  const text = brand.application
    ? texts.html('portal.over_text', { application: brand.application })
    : texts.html('portal.over_text_unnamed');
  return layout(context, title, html`      <h1>${title}</h1>\n      <p>${text}</p>`);
}
