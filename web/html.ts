import escapeHtml from 'escape-html';

/** Text that is already HTML. Create it with `html`; use the constructor only for markup that is known to be safe. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Part = string | number | Html | readonly Html[];

/** A template tag for HTML. It escapes all values except those of the type `Html` and lists of them. */
export function html(strings: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(render)));
}

function render(value: Part): string {
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.join('');
  return escapeHtml(String(value));
}
