import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { docsLayout } from './layout.ts';

export interface ErrorEntry {
  code: string;
  status: number;
  title: string;
}

/**
 * Lists every error code with its status and meaning. The `type` of a problem document links to the line of its code.
 * The roles are explicit, so that screen readers read a table even if the style shows rows as blocks.
 */
export function errorsPage(entries: readonly ErrorEntry[]): Html {
  const rows = entries.map(
    ({ code, status, title }) =>
      html`<tr role="row" id="${code.toLowerCase()}"><td role="cell"><code>${code}</code></td><td role="cell">${status}</td><td role="cell">${title}</td></tr>\n`,
  );
  return docsLayout({
    title: 'Valetkey error codes',
    current: '/docs/errors',
    content: html`    <main id="content" class="page">
      <h1>Error codes</h1>
      <p>Every error is a problem document (RFC 9457) with one of these codes in <code>code</code>. Codes do not change.
        The guide to <a href="/docs/guides/errors">errors</a> says what to do about each.</p>
      <table class="errors" role="table">
        <thead role="rowgroup"><tr role="row"><th role="columnheader">Code</th><th role="columnheader">Status</th><th role="columnheader">Meaning</th></tr></thead>
        <tbody role="rowgroup">
${rows}        </tbody>
      </table>
    </main>`,
  });
}
