import type { PageContext } from '../connect/context.ts';
import type { Page } from '../connect/layout.ts';
import { message } from '../connect/message-pages.ts';

/**
 * The page for browsers without a portal session. Users can log in at the login provider of the environment.
 *
 * @param failed whether a login has just failed
 */
export function portalLoginPage(context: PageContext, loginUrl: string, failed: boolean): Page {
  const { texts } = context;
  const text = texts.html(failed ? 'portal.login_failed' : 'portal.login_text');
  return message(context, texts.plain(failed ? 'fault.title' : 'portal.title'), text, {
    next: { url: loginUrl, label: texts.html('portal.log_in') },
  });
}
