import type { Html } from '../html.ts';
import { html } from '../html.ts';

/** A form of the portal: its address, and the token that binds it to the session and to this action. */
export interface FormView {
  action: string;
  token: string;
}

export function formHtml({ action, token }: FormView, button: Html): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="form_token" value="${token}">${button}</form>`;
}

/**
 * A button that asks for confirmation before the form is sent, without a script.
 *
 * @param about the id of the element that names the object of the action
 */
export function confirmedHtml(form: FormView, label: Html, question: Html, about: string): Html {
  const button = html`<button class="destructive" type="submit" aria-describedby="${about}">${label}</button>`;
  return html`<details class="confirm">
            <summary aria-describedby="${about}">${label}</summary>
            <p>${question}</p>
            ${formHtml(form, button)}
          </details>`;
}
