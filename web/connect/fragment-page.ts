import { html } from '../html.ts';
import type { PageContext } from './context.ts';
import { type FieldView, fieldsHtml } from './fields.ts';
import { layout, type MarkView, type Page } from './layout.ts';

/**
 * The callback page for a provider that returns its token in the fragment of the address, which is not sent to servers.
 * A script reads and posts the token; without scripts the user does that manually.
 *
 * @param isMissing whether the previous submission had no token
 */
export function fragmentPage(context: PageContext, mark: MarkView, isMissing = false): Page {
  const { texts } = context;
  const provider = mark.name;
  const field: FieldView = {
    name: 'token',
    label: texts.plain('token.label', { provider }),
    kind: 'text',
    options: [],
    hint: texts.plain('token.hint'),
    required: true,
    pattern: '',
    value: '',
    problem: isMissing ? 'required' : '',
  };
  // There is no link to the field, because a click on it would replace the token in the fragment.
  const alert = isMissing
    ? html`      <div class="problems" role="alert">
        <p>${texts.html('token.required')}</p>
      </div>
`
    : html``;
  return layout(
    context,
    texts.plain('token.title', { provider }),
    html`      <h1>${texts.html('token.heading')}</h1>
      <p>${texts.html('token.text', { provider })}</p>
${alert}      <form method="post" novalidate>
        <input type="hidden" name="error" value="">
${fieldsHtml([field], { texts, provider, dataLanguage: '' })}        <button type="submit">${texts.html('link.connect')}</button>
      </form>
      <p class="note">${texts.html('token.note')}</p>`,
    { provider: mark, scripts: ['/connect/assets/fragment.js'] },
  );
}
