import type { Html } from '../html.ts';
import { html } from '../html.ts';

/**
 * The layout of every page that a user sees while using a link: one column, no scripts, and nothing from other hosts.
 */
export function layout(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    <link rel="icon" href="/connect/assets/icon.svg">
    <link rel="stylesheet" href="/connect/assets/connect.css">
  </head>
  <body>
    <main>
${content}
    </main>
  </body>
</html>
`;
}

/** A letter instead of the provider's icon, because pages load nothing from other hosts. */
export function badge(name: string): Html {
  const [letter = '?'] = name.trim();
  return html`<p class="badge" aria-hidden="true">${letter.toUpperCase()}</p>`;
}
