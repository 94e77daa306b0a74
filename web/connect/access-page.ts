import { breakable } from '../breakable.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { PageContext } from './context.ts';
import { layout, type Page } from './layout.ts';

/** The party that has verified the name of an application that requests access. */
export type NameVerification = { by: 'host'; host: string } | { by: 'administrator' } | { by: 'no one' };

export interface AccessView {
  /** The name of the application; empty if unknown. */
  client: string;
  verification: NameVerification;
  /** The user who is logged in. */
  identifier: string;
  /** The third-party applications whose accounts can be used. */
  providers: readonly string[];
  /** Whether the application can call tools, and not only list them. */
  callsTools: boolean;
  /**
   * The host that the browser is redirected to; for a native application, the scheme of its address, such as `app:`.
   */
  returnsTo: string;
  /** Whether `returnsTo` belongs to a program on the user's computer. */
  returnsToComputer: boolean;
  /** Binds the form to this login and this browser. */
  formToken: string;
}

/** The page on which a user decides whether an application may use their accounts. */
export function accessPage(context: PageContext, view: AccessView): Page {
  const { texts } = context;
  const { identifier, callsTools, returnsTo, formToken } = view;
  const client = view.client || texts.plain('access.unnamed');
  const useTools = html`        <li class="delete">${texts.html('access.use_tools')}</li>\n`;
  return layout(
    context,
    texts.plain('access.title'),
    html`      <h1>${texts.html('access.title')}</h1>
      <p>${texts.html('access.asks', { client: html`<strong><bdi>${breakable(client)}</bdi></strong>` })}</p>
      <dl>
        <div><dt>${texts.html('access.account')}</dt> <dd><bdi>${breakable(identifier)}</bdi></dd></div>
        <div><dt>${texts.html('access.client')}</dt> <dd>${verificationHtml(context, view.verification)}</dd></div>
        <div><dt>${texts.html('access.returns_to')}</dt> <dd><bdi>${breakable(returnsTo)}</bdi></dd></div>
      </dl>
${warningHtml(context, view)}      <h2>${texts.html('access.scopes')}</h2>
      <ul class="scopes">
        <li>${seeToolsHtml(context, view.providers)}</li>
${callsTools ? useTools : html``}      </ul>
      <form method="post">
        <input type="hidden" name="form_token" value="${formToken}">
        <button type="submit" name="decision" value="allow">${texts.html('access.allow')}</button>
        <button class="secondary" type="submit" name="decision" value="deny">${texts.html('access.cancel')}</button>
      </form>
      <p class="note">${texts.html('access.not_you', { identifier })}</p>`,
    { provider: { name: client, iconUrl: '' } },
  );
}

function verificationHtml({ texts }: PageContext, verification: NameVerification): Html {
  if (verification.by === 'host') return texts.html('access.published_by', { host: verification.host });
  return texts.html(verification.by === 'administrator' ? 'access.registered' : 'access.unverified');
}

function warningHtml({ texts }: PageContext, { returnsToComputer }: AccessView): Html {
  if (!returnsToComputer) return html``;
  return html`      <div class="problems">
        <p>${texts.html('access.local_warning')}</p>
      </div>
`;
}

function seeToolsHtml({ texts }: PageContext, providers: readonly string[]): Html {
  if (providers.length === 0) return texts.html('access.see_own_tools');
  // Passed as HTML, so that the list is not isolated: it has the text direction of the sentence.
  return texts.html('access.see_tools', { providers: html`${texts.list(providers)}` });
}
