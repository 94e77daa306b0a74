import type { Html } from './html.ts';
import { html } from './html.ts';

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
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Valetkey error codes</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/reference.css">
  </head>
  <body class="page">
    <main>
      <h1>Error codes</h1>
      <p>Every error is a problem document (RFC 9457) with one of these codes in <code>code</code>. Codes do not change.</p>
      <table>
        <thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead>
        <tbody>
${rows}        </tbody>
      </table>
    </main>
  </body>
</html>
`;
}
