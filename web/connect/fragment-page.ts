import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { fieldsHtml } from './fields.ts';
import { badge, layout } from './layout.ts';

/**
 * The callback page for a provider that returns its token in the fragment of the address, which is not sent to servers.
 * A script reads and posts the token; without scripts the user does that manually.
 *
 * @param problem what was wrong with the previous submission; empty the first time
 */
export function fragmentPage(provider: string, problem = ''): Html {
  const field = {
    name: 'token',
    label: `Token from ${provider}`,
    kind: 'text',
    options: [],
    hint: 'Everything in the address of this page that comes after the character #.',
    required: true,
    value: '',
    problem,
  } as const;
  // There is no link to the field, because a click on it would replace the token in the fragment.
  const alert =
    problem === ''
      ? html``
      : html`      <div class="problems" role="alert">
        <p>Please fill in the field below.</p>
      </div>
`;
  return layout(
    `Finish connecting ${provider}`,
    html`      ${badge(provider)}
      <h1>One step is left</h1>
      <p>${provider} has put your token at the end of the address of this page. If the page does not continue by itself, copy it from
        there into this field.</p>
${alert}      <form method="post" novalidate>
        <input type="hidden" name="error" value="">
${fieldsHtml([field])}        <button type="submit">Connect</button>
      </form>
      <p class="note">Do not share the address of this page: it contains your token.</p>
      <script src="/connect/assets/fragment.js" defer></script>`,
  );
}
