import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { PageContext } from './context.ts';
import { layout, type MarkView, type Outcome, type Page } from './layout.ts';

/** How a user gets back to the application: by an address, or by a form that ends the link first. */
export type ReturnLink =
  | { url: string }
  | {
      /** The address of the link; `formToken` binds the form to the link and to this browser. */
      action: string;
      formToken: string;
    };

interface Extras {
  outcome?: Outcome;
  provider?: MarkView | undefined;
  retryUrl?: string | undefined;
  /** The main way to continue, in place of `retryUrl`. */
  next?: { url: string; label: Html };
  /** If omitted, the page links to the start page of the application. */
  back?: ReturnLink | undefined;
  requestId?: string | undefined;
  /** An invisible element, and the script that reads it. */
  data?: { content: Html; script: string };
}

/** The account is connected. */
export function connectedPage(context: PageContext, back?: ReturnLink): Page {
  const { texts } = context;
  return message(context, texts.plain('connected.title'), texts.html('connected.text'), { outcome: 'done', back });
}

/** A user has finished the link; the application must still verify the user. */
export function waitingPage(context: PageContext): Page {
  return message(context, context.texts.plain('waiting.title'), waitingText(context));
}

function waitingText({ texts, brand: { application } }: PageContext): Html {
  return application ? texts.html('waiting.text', { application }) : texts.html('waiting.text_unnamed');
}

/** The data with which the last page of a popup tells the application how a link ended. */
export interface PopupView {
  /** The origins that may learn the outcome. */
  origins: readonly string[];
  /** Where the popup is redirected if it cannot send the outcome; empty to stay. */
  returnUrl: string;
}

/** The last page of a popup. A script sends the outcome to the page that opened it, and closes the popup. */
export function popupPage(context: PageContext, outcome: { outcome: string }, { origins, returnUrl }: PopupView): Page {
  const content = html`      <div hidden data-outcome="${JSON.stringify(outcome)}" data-origins="${JSON.stringify(origins)}" data-return-url="${returnUrl}"></div>\n`;
  const back = returnUrl === '' ? undefined : { url: returnUrl };
  const [title, text, mark] = popupTexts(context, outcome);
  const data = { content, script: '/connect/assets/popup.js' };
  return message(context, title, text, { back, data, ...(mark && { outcome: mark }) });
}

function popupTexts(context: PageContext, outcome: { outcome: string }): [string, Html, Outcome?] {
  const { texts } = context;
  if (outcome.outcome === 'expired') return [texts.plain('expired.title'), texts.html('expired.text')];
  if (outcome.outcome !== 'completed') return [texts.plain('refused.title'), texts.html('fault.text'), 'failed'];
  if ('verified' in outcome) return [texts.plain('connected.title'), texts.html('connected.text'), 'done'];
  return [texts.plain('waiting.title'), waitingText(context)];
}

export function usedPage(context: PageContext, back?: ReturnLink): Page {
  const { texts } = context;
  return message(context, texts.plain('used.title'), texts.html('used.text'), { back });
}

/** The link has expired or never existed, or its account or connection no longer exists. */
export function expiredPage(context: PageContext, back?: ReturnLink): Page {
  const { texts } = context;
  return message(context, texts.plain('expired.title'), texts.html('expired.text'), { back });
}

/**
 * The callback does not belong to a flow of this browser. Its link is unknown, so the page links to the start page of
 * the application.
 */
export function strayPage(context: PageContext): Page {
  const { texts } = context;
  return message(context, texts.plain('stray.title'), texts.html('stray.text'));
}

/**
 * The form was not submitted from the page of this link in this browser.
 *
 * @param retryUrl the page of the link, if it is known
 */
export function staleFormPage(context: PageContext, retryUrl?: string): Page {
  const { texts } = context;
  return message(context, texts.plain('stale.title'), texts.html('stale.text'), { retryUrl });
}

/** The page for a login that has expired, was used, or is continued in another browser. */
export function loginOverPage(context: PageContext): Page {
  const { texts } = context;
  return message(context, texts.plain('login.over_title'), texts.html('login.over_text'));
}

/** The page for an authorization request that is rejected. The text is for the developer of the application. */
export function badLoginPage(context: PageContext, text: string, requestId: string): Page {
  const { texts } = context;
  const english = html`<bdi lang="en" dir="ltr">${text}</bdi>`;
  return message(context, texts.plain('login.bad_title'), english, { requestId });
}

/** The user or the provider declined. */
export function refusedPage(context: PageContext, provider: MarkView, retryUrl: string, back?: ReturnLink): Page {
  const { texts } = context;
  const text = texts.html('refused.text', { provider: provider.name });
  return message(context, texts.plain('refused.title'), text, { outcome: 'failed', provider, retryUrl, back });
}

/** A server error, after which the user can only try again. */
export function faultPage(context: PageContext, requestId: string, retryUrl = '', back?: ReturnLink): Page {
  const { texts } = context;
  return message(context, texts.plain('fault.title'), texts.html('fault.text'), {
    outcome: 'failed',
    retryUrl,
    back,
    requestId,
  });
}

/** The reasons why a request for a page fails. */
export type Refusal = 'not_found' | 'method' | 'too_many' | 'host' | 'other';

/** The page for a rejected request, for example for an unknown page, an unsupported method, or too many requests. */
export function refusalPage(context: PageContext, refusal: Refusal, requestId: string): Page {
  const { texts } = context;
  const title = texts.plain(refusal === 'not_found' ? 'error.not_found_title' : 'error.title');
  return message(context, title, texts.html(`error.${refusal}`), { requestId });
}

/** A page with a title, a sentence, and the ways to continue. */
export function message(context: PageContext, title: string, text: Html, extras: Extras = {}): Page {
  const { outcome, provider, retryUrl, requestId, data } = extras;
  const { texts, brand } = context;
  const next = extras.next ?? (retryUrl ? { url: retryUrl, label: texts.html('result.try_again') } : undefined);
  const back = extras.back ?? (brand.homeUrl ? { url: brand.homeUrl } : undefined);
  const forward = next ? html`\n      <p><a class="button" href="${next.url}">${next.label}</a></p>` : html``;
  const reference = html`\n      <p class="note">${texts.html('result.reference')} <code>${requestId ?? ''}</code></p>`;
  return layout(
    context,
    title,
    html`${data ? data.content : html``}      <h1>${title}</h1>
      <p>${text}</p>${forward}${backHtml(context, back, !next)}${requestId ? reference : html``}`,
    { ...(provider && { provider }), ...(outcome && { outcome }), ...(data && { scripts: [data.script] }) },
  );
}

function backHtml({ texts, brand }: PageContext, back: ReturnLink | undefined, isMain: boolean): Html {
  if (!back) return html``;
  const { application } = brand;
  const text = application ? texts.html('brand.back', { application }) : texts.html('brand.back_unnamed');
  if ('url' in back)
    return html`\n      <p><a class="${isMain ? 'button' : 'button secondary'}" href="${back.url}">${text}</a></p>`;
  return html`
      <form method="post" action="${back.action}">
        <input type="hidden" name="form_token" value="${back.formToken}">
        <button class="secondary" type="submit" name="decision" value="cancel">${text}</button>
      </form>`;
}
