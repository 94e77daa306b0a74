import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { layout } from './layout.ts';

/** The account is connected. */
export function connectedPage(): Html {
  return message('Connected', 'The account is connected. You can close this page.', { mark: '✓' });
}

/** A user has finished the link; the application must still verify who it was. */
export function waitingPage(): Html {
  return message('One more step', 'Return to the application that sent you here to finish.');
}

export function usedPage(): Html {
  return message('Already used', 'This link has been used, and the account is connected. You can close this page.');
}

/** The link has expired or never existed, or its account or connection no longer exists. */
export function expiredPage(): Html {
  return message('This link has expired', 'Links work for a short time. Ask for a new one where you got this one.');
}

/** The callback does not belong to a flow of this browser. */
export function strayPage(): Html {
  return message('This sign-in has expired', 'Open your link again in this browser. Nothing was shared.');
}

/** The form was not submitted from the page of this link in this browser. */
export function staleFormPage(): Html {
  return message(
    'Please open the link again',
    'The page was open for too long, or this browser keeps no cookies. Cookies are needed to bring you back safely.',
  );
}

/** The page for a login that has expired, was used, or is continued in another browser. */
export function loginOverPage(): Html {
  return message(
    'This login is not valid',
    'Logins work once, for a short time, and only in the browser in which they began. Start again in your application.',
  );
}

/** The page for an authorization request that is rejected. The text is for the developer of the application. */
export function badLoginPage(text: string, requestId: string): Html {
  return message('The application cannot log you in', text, { requestId });
}

export function refusedPage(provider: string, retryUrl: string): Html {
  return message(
    'Not connected',
    `You declined, or your organization's policy at ${provider} does not allow it. Nothing was shared.`,
    {
      retryUrl,
    },
  );
}

/** A server error, after which the user can only try again. */
export function faultPage(requestId: string, retryUrl = ''): Html {
  return message('Something went wrong', 'The account was not connected. Please try again in a moment.', {
    retryUrl,
    requestId,
  });
}

/** A failed request: an unknown page, an unsupported method, or too many requests. */
export function refusalPage(text: string, requestId: string): Html {
  return message('Something is wrong with this request', text, { requestId });
}

interface Extras {
  mark?: string;
  retryUrl?: string;
  requestId?: string;
}

function message(title: string, text: string, { mark, retryUrl, requestId }: Extras = {}): Html {
  return layout(
    title,
    html`      ${mark ? html`<p class="badge done" aria-hidden="true">${mark}</p>\n      ` : html``}<h1>${title}</h1>
      <p>${text}</p>${retryUrl ? html`\n      <p><a class="button" href="${retryUrl}">Try again</a></p>` : html``}${
        requestId ? html`\n      <p class="note">Reference for support: <code>${requestId}</code></p>` : html``
      }`,
  );
}
