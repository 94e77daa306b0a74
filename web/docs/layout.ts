import type { Html } from '../html.ts';
import { html } from '../html.ts';

export interface DocsPage {
  title: string;
  /** The address of the menu entry that is marked as current. */
  current?: string;
  content: Html;
  /** More elements for the head of the document. */
  head?: Html;
}

const MENU = [
  { href: '/docs', label: 'API reference' },
  { href: '/docs/guides', label: 'Guides' },
  { href: '/docs/errors', label: 'Errors' },
];

/** The layout of the pages for developers: a menu and one main part. The layout itself has no scripts. */
export function docsLayout({ title, current = '', content, head = html`` }: DocsPage): Html {
  const entries = MENU.map(({ href, label }) => {
    const mark = href === current ? html` aria-current="page"` : html``;
    return html`          <li><a href="${href}"${mark}>${label}</a></li>\n`;
  });
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/docs/assets/docs.css">
${head}  </head>
  <body>
    <a class="skip" href="#content">Skip to content</a>
    <header class="top">
      <a class="home" href="/"><img src="/favicon.svg" alt="" width="28" height="28"> Valetkey</a>
      <nav aria-label="Documentation">
        <ul>
${entries}        </ul>
      </nav>
    </header>
${content}
  </body>
</html>
`;
}
