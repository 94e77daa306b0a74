import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { Texts } from '../languages/texts.ts';
import { type DataLanguage, dataHtml, languageHtml } from './data-text.ts';

/** The kinds of invalid values. */
export type FieldProblem = 'required' | 'format' | 'choice' | 'too_long' | 'control' | 'address' | 'not_accepted';

/** One field of a form. `value` may be shown again; it is always empty for a secret. */
export interface FieldView {
  name: string;
  label: string;
  kind: 'text' | 'password' | 'select' | 'textarea';
  options: readonly { value: string; name: string }[];
  hint: string;
  required: boolean;
  /** A regular expression that the whole value must match; empty if any value is allowed. */
  pattern: string;
  value: string;
  /** The reason why the entered value is invalid; empty if it is valid. */
  problem: FieldProblem | '';
}

/** The languages of a form. */
export interface FormLanguage extends DataLanguage {
  /** The name of the provider, for the message that it did not accept a value. */
  provider: string;
}

/** A prefix, so that a provider's field names cannot collide with the form's own fields. */
export const FIELD_PREFIX = 'field_';

export function fieldsHtml(fields: readonly FieldView[], language: FormLanguage): Html {
  return html`${fields.map((field) => fieldHtml(field, language))}`;
}

/**
 * Lists all invalid fields at the top, where screen readers read them first, with a link to each field. Each reason is
 * repeated beside its field, because on a phone the list and the field are not visible together.
 */
export function problemsHtml(fields: readonly FieldView[], language: FormLanguage): Html {
  const wrong = fields.filter((field) => field.problem !== '');
  if (wrong.length === 0) return html``;
  const items = wrong.map(
    (field) => html`          <li><a href="#${idOf(field)}">${problemText(field, language)}</a></li>\n`,
  );
  return html`      <div class="problems" role="alert">
        <p>${language.texts.html('problem.summary', { count: wrong.length })}</p>
        <ul>
${items}        </ul>
      </div>
`;
}

function problemText({ label, problem }: FieldView, language: FormLanguage): Html {
  const { texts, provider } = language;
  const field = dataHtml(label, language);
  if (problem === '') return html``;
  if (problem === 'not_accepted') return texts.html('problem.not_accepted', { provider, field });
  return texts.html(`problem.${problem}`, { field });
}

function fieldHtml(field: FieldView, language: FormLanguage): Html {
  const { texts } = language;
  const id = idOf(field);
  const optional = field.required ? html`` : html` <span class="optional">${texts.html('field.optional')}</span>`;
  const hint = field.hint
    ? html`        <p class="hint" id="${id}_hint">${dataHtml(field.hint, language)}</p>\n`
    : html``;
  const problem = field.problem
    ? html`        <p class="problem" id="${id}_problem">${problemText(field, language)}</p>\n`
    : html``;
  return html`      <div class="field">
        <label for="${id}">${dataHtml(field.label, language)}${optional}</label>
${hint}${problem}        ${controlHtml(field, language)}
      </div>
`;
}

function controlHtml(field: FieldView, language: FormLanguage): Html {
  const { texts } = language;
  const { kind, options, value } = field;
  const attributes = attributesOf(field, texts);
  if (kind === 'textarea') return html`<textarea ${attributes} dir="ltr" rows="5"></textarea>`;
  if (kind === 'select') {
    const choices = options.map((option) => {
      const selected = option.value === value ? html` selected` : html``;
      return html`<option value="${option.value}"${languageHtml(language)}${selected}>${option.name}</option>`;
    });
    return html`<select ${attributes}><option value="">${texts.plain('field.choose')}</option>${choices}</select>`;
  }
  const shown = kind === 'text' ? value : '';
  const input = html`<input ${attributes} dir="ltr" type="${kind}" value="${shown}">`;
  return kind === 'password' ? html`<span class="secret">${input}${helpersHtml(field, texts)}</span>` : input;
}

/** Buttons that show and paste a secret. They need a script, which makes them visible. */
function helpersHtml(field: FieldView, texts: Texts): Html {
  const id = idOf(field);
  return html`<button type="button" class="helper" hidden data-paste="${id}">${texts.plain('field.paste')}</button><button type="button" class="helper" hidden aria-pressed="false" data-show="${id}" data-hide-text="${texts.plain('field.hide')}">${texts.plain('field.show')}</button>`;
}

/**
 * Returns the attributes of a field. Attributes for the browser's own validation, such as `required`, are not used: the
 * page shows problems itself, with the same texts in every browser.
 */
function attributesOf(field: FieldView, texts: Texts): Html {
  const id = idOf(field);
  const described = [field.hint && `${id}_hint`, field.problem && `${id}_problem`].filter(Boolean).join(' ');
  const description = described ? html` aria-describedby="${described}"` : html``;
  const required = field.required ? html` aria-required="true"` : html``;
  const invalid = field.problem ? html` aria-invalid="true"` : html``;
  return html`id="${id}" name="${id}" autocomplete="off" autocapitalize="none" spellcheck="false"${description}${required}${invalid}${patternHtml(field, texts)}`;
}

/** Returns the attributes for the script that reports invalid values while the user types. The server checks again. */
function patternHtml({ pattern, label }: FieldView, texts: Texts): Html {
  if (pattern === '') return html``;
  return html` data-pattern="${pattern}" data-problem="${texts.plain('problem.format', { field: label })}"`;
}

function idOf({ name }: Pick<FieldView, 'name'>): string {
  return `${FIELD_PREFIX}${name}`;
}
