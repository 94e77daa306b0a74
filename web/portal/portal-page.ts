import type { PageContext } from '../connect/context.ts';
import { layout, type Page } from '../connect/layout.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { type AccountView, accountsHtml, type ConnectableView, connectableHtml } from './accounts.ts';
import { type CallView, callsHtml } from './calls.ts';
import { type FormView, formHtml } from './forms.ts';
import { type GrantView, grantsHtml } from './grants.ts';

/** The effect of the last action. */
export const NOTICES = ['connected', 'disconnected', 'revoked', 'impossible'] as const;
export type Notice = (typeof NOTICES)[number];

export interface PortalView {
  /** The name of the user. */
  identifier: string;
  /** The page of the application to which the user can return; empty for none. */
  returnUrl: string;
  notice: Notice | undefined;
  accounts: readonly AccountView[];
  connectable: readonly ConnectableView[];
  grants: readonly GrantView[];
  calls: readonly CallView[];
  signOut: FormView;
}

/** The page on which users see and manage their accounts. */
export function portalPage(context: PageContext, view: PortalView): Page {
  const { texts, brand } = context;
  const title = texts.plain('portal.title');
  const head = html`    <link rel="stylesheet" href="/connect/assets/portal.css">\n`;
  return layout(
    context,
    title,
    html`${backHtml(view.returnUrl, texts.html('brand.back', { application: brand.application }))}      <h1>${title}</h1>
      <div class="user">
        <p>${texts.html('portal.user', { identifier: view.identifier })}</p>
        ${formHtml(view.signOut, html`<button class="quiet" type="submit">${texts.html('portal.sign_out')}</button>`)}
      </div>
${noticeHtml(context, view.notice)}${accountsHtml(context, view.accounts)}${connectableHtml(context, view.connectable)}${grantsHtml(context, view.grants)}${callsHtml(context, view.calls)}`,
    { head },
  );
}

function backHtml(url: string, text: Html): Html {
  return url === '' ? html`` : html`      <p class="back"><a href="${url}" rel="noreferrer">${text}</a></p>\n`;
}

function noticeHtml({ texts }: PageContext, notice: Notice | undefined): Html {
  if (!notice) return html``;
  return html`      <p class="notice ${notice}" role="status">${texts.html(`portal.notice_${notice}`)}</p>\n`;
}
