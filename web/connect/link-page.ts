import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { FieldView } from './fields.ts';
import { fieldsHtml, problemsHtml } from './fields.ts';
import { badge, layout } from './layout.ts';

export interface ScopeView {
  name: string;
  description: string;
}

export interface LinkView {
  /** The name of the application that requests access. */
  asker: string;
  provider: string;
  /**
   * The name of the credential that the user enters, such as "API key", and how to get it; empty if the provider does
   * not say.
   */
  formTitle: string;
  help: string;
  /** The account that the link is for. */
  identifier: string;
  /** The address of the server that grants access, if it differs between accounts; otherwise empty. */
  address: string;
  /** `consent`: the user continues to the provider; `form`: the user enters credentials here. */
  completion: 'consent' | 'form';
  scopes: readonly ScopeView[];
  fields: readonly FieldView[];
  /** Binds the form to this link and this browser. */
  formToken: string;
}

/** The page of an open link: who requests access, to what, and how to agree. */
export function linkPage(view: LinkView): Html {
  const { asker, provider, identifier, completion, fields, formToken } = view;
  const title = fields.some((field) => field.problem) ? `Error: Connect ${provider}` : `Connect ${provider}`;
  const isConsent = completion === 'consent';
  return layout(
    title,
    html`      ${badge(provider)}
      <h1>Connect ${provider}</h1>
      <p><strong>${asker}</strong> asks for access to your ${provider} account.</p>
      <dl>
        <dt>For</dt>
        <dd>${identifier}</dd>
${addressHtml(view)}      </dl>
${scopesHtml(view)}${problemsHtml(fields)}      <form method="post" novalidate>
        <input type="hidden" name="form_token" value="${formToken}">
${fieldsHtml(fields)}        <button type="submit">${isConsent ? `Continue to ${provider}` : 'Connect'}</button>
      </form>
      <p class="note">${isConsent ? consentNote(provider) : FORM_NOTE}</p>
      <p class="note">Not ${identifier}, or not expecting this? Close this page. Nothing will be shared.</p>`,
  );
}

function addressHtml({ address }: LinkView): Html {
  return address === '' ? html`` : html`        <dt>At</dt>\n        <dd>${address}</dd>\n`;
}

function scopesHtml({ asker, completion, scopes, formTitle, help }: LinkView): Html {
  if (completion === 'form') {
    const heading = formTitle ? html`      <h2>${formTitle}</h2>\n` : html``;
    return help ? html`${heading}      <p>${help}</p>\n` : heading;
  }
  if (scopes.length === 0) return html`      <p>The next page says what you share.</p>\n`;
  const items = scopes.map(({ name, description }) => {
    const more = description ? html`<br><span class="hint">${description}</span>` : html``;
    return html`        <li>${name}${more}</li>\n`;
  });
  return html`      <h2>What ${asker} will be able to use</h2>
      <ul class="scopes">
${items}      </ul>
`;
}

function consentNote(provider: string): string {
  return `You sign in at ${provider}. We never see your ${provider} password. You can revoke access in ${provider} at any time.`;
}

const FORM_NOTE = 'What you type is stored encrypted and only used to reach your account.';
