import { breakable } from '../breakable.ts';
import type { PageContext } from '../connect/context.ts';
import { dataHtml } from '../connect/data-text.ts';
import { type MarkView, markHtml } from '../connect/layout.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { confirmedHtml, type FormView, formHtml } from './forms.ts';
import { timeHtml } from './times.ts';

export interface AccountView {
  provider: MarkView;
  identifier: string;
  status: 'ACTIVE' | 'EXPIRED' | 'PENDING_AUTH' | 'PENDING_VERIFICATION' | 'DISCONNECTED';
  /** Milliseconds UTC; null if the account was not used yet. */
  lastUsedAt: number | null;
  /** The permitted uses of the account; empty if the provider does not describe them. */
  scopes: readonly { name: string; description: string }[];
  /** The language of the names and descriptions in `scopes`; empty if it is unknown. */
  dataLanguage: string;
  /** The form that reconnects the account; undefined if that is not possible now. */
  reconnect: FormView | undefined;
  disconnect: FormView | undefined;
}

export interface ConnectableView {
  provider: MarkView;
  connect: FormView;
}

const STATUS = {
  ACTIVE: 'portal.status_active',
  EXPIRED: 'portal.status_expired',
  PENDING_AUTH: 'portal.status_pending',
  PENDING_VERIFICATION: 'portal.status_verifying',
  DISCONNECTED: 'portal.status_disconnected',
} as const;

/** The accounts of the user, each with its status in words and what the user can do. */
export function accountsHtml(context: PageContext, accounts: readonly AccountView[]): Html {
  const { texts } = context;
  const list = html`        <ul class="cards">
${accounts.map((account, index) => accountHtml(context, account, `account_${index}`))}        </ul>
`;
  return html`      <section aria-labelledby="accounts">
        <h2 id="accounts">${texts.html('portal.accounts')}</h2>
${accounts.length > 0 ? list : html`        <p class="empty">${texts.html('portal.no_accounts')}</p>\n`}      </section>
`;
}

function accountHtml(context: PageContext, account: AccountView, id: string): Html {
  const { texts } = context;
  const { provider, identifier, status, lastUsedAt } = account;
  const used =
    lastUsedAt === null
      ? texts.html('portal.never_used')
      : texts.html('portal.last_used', { time: timeHtml(context, lastUsedAt) });
  return html`          <li class="card">
            <div class="head">
              ${markHtml(provider)}
              <h3 id="${id}"><bdi>${provider.name}</bdi><span class="identifier"><bdi>${breakable(identifier)}</bdi></span></h3>
              <span class="state ${status.toLowerCase()}">${texts.html(STATUS[status])}</span>
            </div>
            <p class="note"><span>${used}</span></p>
${scopesHtml(context, account)}            <div class="actions">${actionsHtml(context, account, id)}</div>
          </li>
`;
}

/** Returns the buttons of an account. Reconnecting is the primary action unless the account is active. */
function actionsHtml({ texts }: PageContext, { status, reconnect, disconnect }: AccountView, id: string): Html {
  const kind = status === 'ACTIVE' ? html` class="secondary"` : html``;
  const isNew = status === 'PENDING_AUTH' || status === 'DISCONNECTED';
  const name = texts.html(isNew ? 'link.connect' : 'portal.reconnect');
  const button = html`<button${kind} type="submit" aria-describedby="${id}">${name}</button>`;
  const again = reconnect ? formHtml(reconnect, button) : html``;
  const label = texts.html('portal.disconnect');
  const end = disconnect ? confirmedHtml(disconnect, label, texts.html('portal.disconnect_text'), id) : html``;
  return html`${again}${end}`;
}

function scopesHtml({ texts }: PageContext, { scopes, dataLanguage }: AccountView): Html {
  const language = { texts, dataLanguage };
  const items = scopes.map(({ name, description }) => {
    const more = description ? html` <span class="hint">${dataHtml(description, language)}</span>` : html``;
    return html`<li>${dataHtml(name, language)}${more}</li>`;
  });
  const list = items.length > 0 ? html`<ul>${items}</ul>` : html`<p>${texts.html('portal.may_all')}</p>`;
  return html`            <details>
              <summary>${texts.html('portal.may')}</summary>
              ${list}
            </details>
`;
}

/** The applications that the user can connect in addition. */
export function connectableHtml({ texts }: PageContext, connectable: readonly ConnectableView[]): Html {
  if (connectable.length === 0) return html``;
  const items = connectable.map(({ provider, connect }, index) => {
    const id = `connectable_${index}`;
    const button = html`<button class="secondary" type="submit" aria-describedby="${id}">${texts.html('link.connect')}</button>`;
    return html`          <li>${markHtml(provider)}<span id="${id}"><bdi>${provider.name}</bdi></span>${formHtml(connect, button)}</li>\n`;
  });
  return html`      <section aria-labelledby="connectable">
        <h2 id="connectable">${texts.html('portal.connectable')}</h2>
        <ul class="rows">
${items}        </ul>
      </section>
`;
}
