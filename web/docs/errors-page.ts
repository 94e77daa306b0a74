import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { docsLayout } from './layout.ts';

export interface ErrorEntry {
  code: string;
  status: number;
  title: string;
}

/** Lists every error code with its status and meaning. The `type` of a problem document links to its line. */
export function errorsPage(entries: readonly ErrorEntry[]): Html {
  const rows = entries.map(
    ({ code, status, title }) =>
      html`<tr id="${code.toLowerCase()}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td></tr>\n`,
  );
  return docsLayout({
    title: 'Valetkey error codes',
    current: '/docs/errors',
    content: html`    <main id="content" class="page">
      <h1>Error codes</h1>
      <p>Every error is a problem document (RFC 9457) with one of these codes in <code>code</code>. Codes do not change.
        The guide to <a href="/docs/guides/errors">errors</a> says what to do about each.</p>
      <div class="table" tabindex="0">
        <table>
          <thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead>
          <tbody>
${rows}          </tbody>
        </table>
      </div>
    </main>`,
  });
}
