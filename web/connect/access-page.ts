import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { badge, layout } from './layout.ts';

/** Who has verified the name of an application that requests access. */
export type Vouching = { by: 'host'; host: string } | { by: 'administrator' } | { by: 'no one' };

export interface AccessView {
  /** The name of the application; empty if unknown. */
  application: string;
  vouching: Vouching;
  /** The user who is logged in. */
  identifier: string;
  /** The third-party applications whose accounts can be used. */
  providers: readonly string[];
  /** Whether the application can call tools, and not only list them. */
  callsTools: boolean;
  /** The host that the browser is redirected to, or the scheme of an application. */
  returnsTo: string;
  /** Whether that is a program on the user's computer. */
  returnsToComputer: boolean;
  /** Binds the form to this login and this browser. */
  formToken: string;
}

/** The page on which a user decides whether an application may use their accounts. */
export function accessPage(view: AccessView): Html {
  const { application, identifier, callsTools, returnsTo, formToken } = view;
  const name = application || 'An application without a name';
  return layout(
    'Allow access?',
    html`      ${badge(name)}
      <h1>Allow access?</h1>
      <p><strong>${name}</strong> asks for access to your accounts.</p>
      <dl>
        <dt>Logged in as</dt>
        <dd>${identifier}</dd>
      </dl>
      <dl>
        <dt>Application</dt>
        <dd>${vouchingText(view.vouching)}</dd>
      </dl>
      <dl>
        <dt>Returns to</dt>
        <dd>${returnsTo}</dd>
      </dl>
${warningHtml(view)}      <h2>What it will be able to do</h2>
      <ul class="scopes">
        <li>See which tools there are for ${listed(view.providers)}</li>
${callsTools ? html`        <li>Use these tools with your accounts: read, create, change and delete data there</li>\n` : html``}      </ul>
      <form method="post">
        <input type="hidden" name="form_token" value="${formToken}">
        <button type="submit" name="decision" value="allow">Allow</button>
        <button class="secondary" type="submit" name="decision" value="deny">Cancel</button>
      </form>
      <p class="note">Not ${identifier}, or not expecting this? Choose Cancel. Nothing will be shared.</p>`,
  );
}

function vouchingText(vouching: Vouching): string {
  if (vouching.by === 'host') return `Published by ${vouching.host}`;
  if (vouching.by === 'administrator') return 'Registered by your administrator';
  return 'Registered itself. Its name is not verified.';
}

function warningHtml({ returnsToComputer }: AccessView): Html {
  if (!returnsToComputer) return html``;
  return html`      <div class="problems">
        <p>A program on this computer will get access, and its name cannot be verified. Allow it only if you have just
        started this login yourself.</p>
      </div>
`;
}

function listed(providers: readonly string[]): string {
  return providers.length === 0 ? 'your accounts' : providers.join(', ');
}
