import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { docsLayout } from './layout.ts';

/** The API reference: a frame for the reference viewer, whose script reads the contract from /openapi.json. */
export function referencePage(): Html {
  return docsLayout({
    title: 'Valetkey API reference',
    current: '/docs',
    head: html`    <link rel="stylesheet" href="/docs/viewer/style.css">
    <link rel="stylesheet" href="/docs/assets/reference.css">
    <script src="/docs/assets/style-sheets.js"></script>
    <script type="module" src="/docs/assets/reference.js"></script>
`,
    content: html`    <div id="content">
      <noscript><p class="page">The reference needs JavaScript. The contract itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</p></noscript>
    </div>`,
  });
}

/** The page in place of the reference if the files of its viewer are not installed. */
export function viewerMissingPage(): Html {
  return docsLayout({
    title: 'Valetkey API reference',
    current: '/docs',
    content: html`    <main id="content" class="page">
      <h1>API reference</h1>
      <p>The viewer of the reference is not installed. Run <code>make reference</code> in the directory of the server, and
        reload this page.</p>
      <p>The contract itself is at <a href="/openapi.yaml">/openapi.yaml</a> and <a href="/openapi.json">/openapi.json</a>.</p>
    </main>`,
  });
}
