import type { Html } from '../html.ts';
import { html } from '../html.ts';

/** One field of a form. `value` may be shown again; it is always empty for a secret. */
export interface FieldView {
  name: string;
  label: string;
  kind: 'text' | 'password' | 'select' | 'textarea';
  options: readonly string[];
  hint: string;
  required: boolean;
  value: string;
  /** What is wrong with the entered value, as a sentence; empty if it is valid. */
  problem: string;
}

/** A prefix, so that a provider's field names cannot collide with the form's own fields. */
export const FIELD_PREFIX = 'field_';

export function fieldsHtml(fields: readonly FieldView[]): Html {
  return html`${fields.map(fieldHtml)}`;
}

/** Lists all invalid fields at the top, where screen readers read them first, with a link to each field. */
export function problemsHtml(fields: readonly FieldView[]): Html {
  const wrong = fields.filter((field) => field.problem !== '');
  if (wrong.length === 0) return html``;
  const items = wrong.map(
    (field) => html`          <li><a href="#${idOf(field)}">${field.label} ${field.problem}</a></li>\n`,
  );
  return html`      <div class="problems" role="alert">
        <p>Please correct this:</p>
        <ul>
${items}        </ul>
      </div>
`;
}

function fieldHtml(field: FieldView): Html {
  const id = idOf(field);
  const optional = field.required ? html`` : html` <span class="optional">(optional)</span>`;
  const hint = field.hint ? html`        <p class="hint" id="${id}_hint">${field.hint}</p>\n` : html``;
  const problem = field.problem
    ? html`        <p class="problem" id="${id}_problem">${field.label} ${field.problem}</p>\n`
    : html``;
  return html`      <div class="field">
        <label for="${id}">${field.label}${optional}</label>
${hint}${problem}        ${controlHtml(field, attributesOf(field))}
      </div>
`;
}

function controlHtml({ kind, options, value }: FieldView, attributes: Html): Html {
  if (kind === 'textarea') return html`<textarea ${attributes} rows="5"></textarea>`;
  if (kind === 'select') {
    const choices = options.map((option) => {
      const selected = option === value ? html` selected` : html``;
      return html`<option${selected}>${option}</option>`;
    });
    return html`<select ${attributes}><option value=""></option>${choices}</select>`;
  }
  const shown = kind === 'text' ? value : '';
  return html`<input ${attributes} type="${kind}" value="${shown}">`;
}

/**
 * Returns the attributes of a field. They disable the browser's own validation: the page shows problems itself, with
 * the same texts in every browser.
 */
function attributesOf(field: FieldView): Html {
  const id = idOf(field);
  const described = [field.hint && `${id}_hint`, field.problem && `${id}_problem`].filter(Boolean).join(' ');
  const description = described ? html` aria-describedby="${described}"` : html``;
  const required = field.required ? html` aria-required="true"` : html``;
  const invalid = field.problem ? html` aria-invalid="true"` : html``;
  return html`id="${id}" name="${id}" autocomplete="off" autocapitalize="none" spellcheck="false"${description}${required}${invalid}`;
}

function idOf({ name }: Pick<FieldView, 'name'>): string {
  return `${FIELD_PREFIX}${name}`;
}
