import { Html, html } from '../html.ts';
import type { LanguageTag, Texts } from '../languages/texts.ts';
import type { BrandView, PageContext } from './context.ts';

/** A whole page. */
export class Page extends Html {
  readonly language: LanguageTag;
  /** Whether the page has scripts. Its content security policy must then allow scripts of this server. */
  readonly hasScript: boolean;

  constructor(language: LanguageTag, hasScript: boolean, content: Html) {
    super(String(content));
    this.language = language;
    this.hasScript = hasScript;
  }
}

/** The mark of an application or a provider: an image, or the first letter of the name if `iconUrl` is empty. */
export interface MarkView {
  name: string;
  iconUrl: string;
  /** Whether the image has its own background and fills the whole mark. */
  isTile?: boolean;
}

/** The outcome that a sign beside the marks shows. */
export type Outcome = 'done' | 'failed';

export interface LayoutOptions {
  outcome?: Outcome;
  /** The provider, whose mark is shown beside that of the application. */
  provider?: MarkView;
  /** The addresses of scripts of this server. */
  scripts?: readonly string[];
  /** Further elements of the head. */
  head?: Html;
}

/**
 * The layout of every page for users, such as the pages of links and of the portal: one column, the application's
 * brand, no inline script or style, and nothing from other hosts.
 */
export function layout(context: PageContext, title: string, content: Html, options: LayoutOptions = {}): Page {
  const { texts, brand } = context;
  const { provider, outcome, scripts = [], head = html`` } = options;
  const accent = brand.accentUrl ? html`\n    <link rel="stylesheet" href="${brand.accentUrl}">` : html``;
  return new Page(
    texts.tag,
    scripts.length > 0,
    html`<!doctype html>
<html lang="${texts.tag}" dir="${texts.direction}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    <link rel="icon" href="/connect/assets/icon.svg">
    <link rel="stylesheet" href="/connect/assets/connect.css">${accent}
${head}${scripts.map((address) => html`    <script src="${address}" defer></script>\n`)}  </head>
  <body>
    <main>
${marksHtml(brand, provider, outcome)}${content}
    </main>
${footerHtml(texts, brand)}  </body>
</html>
`,
  );
}

const SIGNS: Readonly<Record<Outcome, Html>> = {
  done: html`<path d="m6 12.5 4 4 8-9"/>`,
  failed: html`<path d="M12 6v7m0 4.5v.5"/>`,
};

/**
 * Returns the marks of the application and of the provider. Screen readers skip them, because the text of the page
 * names the application, the provider and the outcome.
 */
function marksHtml(brand: BrandView, provider: MarkView | undefined, outcome: Outcome | undefined): Html {
  const marks = [
    ...(brand.application || brand.logoUrl ? [markHtml({ name: brand.application, iconUrl: brand.logoUrl })] : []),
    ...(provider ? [markHtml(provider)] : []),
  ];
  if (marks.length === 0 && !outcome) return html``;
  const between = html`<svg class="between" viewBox="0 0 24 24"><path d="M7 4 3 8l4 4M3 8h14m0 12 4-4-4-4m4 4H7"/></svg>`;
  const sign = outcome && html`<svg class="sign ${outcome}" viewBox="0 0 24 24">${SIGNS[outcome]}</svg>`;
  return html`      <div class="marks" aria-hidden="true">${marks[0] ?? html``}${marks[1] ? html`${between}${marks[1]}` : html``}${sign ?? html``}</div>\n`;
}

/** A mark without an image is the first letter of its name. */
export function markHtml({ name, iconUrl, isTile = false }: MarkView): Html {
  if (iconUrl)
    return html`<span class="mark${isTile ? ' tile' : ''}"><img src="${iconUrl}" alt="" width="40" height="40"></span>`;
  const [letter = '?'] = name.trim();
  return html`<span class="mark letter">${letter.toUpperCase()}</span>`;
}

function footerHtml(texts: Texts, { application, supportUrl, privacyUrl, termsUrl }: BrandView): Html {
  const safe = application ? texts.html('brand.keeps_safe', { application }) : texts.html('brand.kept_safe');
  const links = [
    { url: supportUrl, text: texts.plain('brand.support') },
    { url: privacyUrl, text: texts.plain('brand.privacy') },
    { url: termsUrl, text: texts.plain('brand.terms') },
  ].filter(({ url }) => url !== '');
  const items = links.map(({ url, text }) => html`<li><a href="${url}" rel="noreferrer">${text}</a></li>`);
  return html`    <footer>
      <p>${safe}</p>
${items.length > 0 ? html`      <ul>${items}</ul>\n` : html``}    </footer>
`;
}
