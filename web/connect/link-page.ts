import { breakable } from '../breakable.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { PageContext } from './context.ts';
import { dataHtml } from './data-text.ts';
import type { FieldView, FormLanguage } from './fields.ts';
import { fieldsHtml, problemsHtml } from './fields.ts';
import { layout, type MarkView, type Page } from './layout.ts';
import { type ScopeView, scopesHtml } from './scopes.ts';

export interface LinkView {
  provider: MarkView;
  /**
   * The name of the credential that the user enters, such as "API key"; empty if the provider's definition has none.
   */
  formTitle: string;
  /** How to get the credential; empty if the provider's definition does not say. */
  help: string;
  /** The page of the provider on which users find the credential; empty if unknown. */
  keyPage: string;
  /** The account that the link is for. */
  identifier: string;
  /** The address of the server that grants access, if it differs between accounts; otherwise empty. */
  address: string;
  /** `consent`: the user continues to the provider; `form`: the user enters credentials here. */
  completion: 'consent' | 'form';
  scopes: readonly ScopeView[];
  fields: readonly FieldView[];
  /** The language that the provider's definition is written in; empty if it is unknown. */
  dataLanguage: string;
  minutesLeft: number;
  /** Binds the form to this link and this browser. */
  formToken: string;
}

/** The page of an open link: who requests access, to what, and how to agree or to cancel. */
export function linkPage(context: PageContext, view: LinkView): Page {
  const { texts, brand } = context;
  const { identifier, completion, fields, formToken, dataLanguage } = view;
  const provider = view.provider.name;
  const language: FormLanguage = { texts, provider, dataLanguage };
  const hasProblem = fields.some((field) => field.problem);
  const isConsent = completion === 'consent';
  return layout(
    context,
    texts.plain(hasProblem ? 'link.title_with_problems' : 'link.title', { provider }),
    html`      <h1>${texts.html('link.title', { provider })}</h1>
${problemsHtml(fields, language)}      <p>${texts.html('link.asks', { application: strong(brand.application), provider })}</p>
      <dl>
        <div><dt>${texts.html('link.account')}</dt> <dd><bdi>${breakable(identifier)}</bdi></dd></div>
${addressHtml(context, view)}      </dl>
${isConsent ? scopesHtml(context, view.scopes, dataLanguage) : credentialHtml(language, view)}      <form method="post" novalidate>
        <input type="hidden" name="form_token" value="${formToken}">
${fieldsHtml(fields, language)}        <button type="submit" name="decision" value="continue">${isConsent ? texts.html('link.continue', { provider }) : texts.html('link.connect')}</button>
        <button class="secondary" type="submit" name="decision" value="cancel">${texts.html('link.cancel')}</button>
      </form>
      <p class="note">${isConsent ? texts.html('link.consent_note', { provider }) : texts.html('link.form_note')}</p>
      <p class="note">${texts.html('link.not_you', { identifier })}</p>
      <p class="note">${texts.html('link.minutes_left', { count: view.minutesLeft })}</p>`,
    { provider: view.provider, scripts: isConsent ? [] : ['/connect/assets/form.js'] },
  );
}

function strong(name: string): Html {
  return html`<strong><bdi>${name}</bdi></strong>`;
}

function addressHtml({ texts }: PageContext, { address }: LinkView): Html {
  if (address === '') return html``;
  return html`        <div><dt>${texts.html('link.address')}</dt> <dd><bdi>${breakable(address)}</bdi></dd></div>\n`;
}

/**
 * Returns the title of the form, and how to get the values. The provider's page opens in a new tab, because the user
 * needs this page to enter the values.
 */
function credentialHtml(language: FormLanguage, { formTitle, help, keyPage, provider, fields }: LinkView): Html {
  // The label of a single field may be the same as the title of the form.
  const isRepeated = !help && !keyPage && fields[0]?.label === formTitle;
  const title = formTitle && !isRepeated ? html`      <h2>${dataHtml(formTitle, language)}</h2>\n` : html``;
  const text = help ? html`      <p>${dataHtml(help, language)}</p>\n` : html``;
  const label = language.texts.html('link.key_page', { provider: provider.name });
  const link = keyPage
    ? html`      <p><a class="outside" href="${keyPage}" target="_blank" rel="noopener noreferrer">${label}</a></p>\n`
    : html``;
  return html`${title}${text}${link}`;
}
