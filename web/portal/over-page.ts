import type { PageContext } from '../connect/context.ts';
import type { Page } from '../connect/layout.ts';
import { message } from '../connect/message-pages.ts';

/**
 * The page for browsers without a portal session: none was opened in this browser, it has expired, or the user has
 * signed out.
 */
export function portalOverPage(context: PageContext): Page {
  const { texts, brand } = context;
  const text = brand.application
    ? texts.html('portal.over_text', { application: brand.application })
    : texts.html('portal.over_text_unnamed');
  return message(context, texts.plain('portal.over_title'), text);
}
