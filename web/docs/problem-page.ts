import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { docsLayout } from './layout.ts';

export interface ProblemView {
  status: number;
  title: string;
  detail: string;
  /** Identifies the request in the log of the server. */
  requestId: string;
}

/** The page for an address that does not exist, or whose page failed. */
export function problemPage({ status, title, detail, requestId }: ProblemView): Html {
  const advice =
    status < 500
      ? html`Check the address, or start from the <a href="/">front page</a>.`
      : html`Try again in a moment, or return to the <a href="/">front page</a>. If it happens again, look up the reference
        in the log of the server.`;
  return docsLayout({
    title: `${title} · Valetkey`,
    content: html`    <main id="content" class="page problem">
      <p class="status">${status}</p>
      <h1>${title}</h1>
      <p class="lead">${detail}</p>
      <p>${advice}</p>
      <p class="reference">Reference: <code>${requestId}</code></p>
    </main>`,
  });
}
