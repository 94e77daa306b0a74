import { breakable } from '../breakable.ts';
import type { PageContext } from '../connect/context.ts';
import { dataHtml } from '../connect/data-text.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { timeHtml } from './times.ts';

/** A call of a tool, without its contents. */
export interface CallView {
  /** The title of the tool; empty for a direct call to the provider's API. */
  tool: string;
  /** The language of the title; empty if it is unknown. */
  dataLanguage: string;
  provider: string;
  identifier: string;
  /** Milliseconds UTC. */
  startedAt: number;
  status: 'STARTED' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN';
}

const RESULT = {
  STARTED: 'portal.call_started',
  SUCCEEDED: 'portal.call_succeeded',
  FAILED: 'portal.call_failed',
  UNKNOWN: 'portal.call_unknown',
} as const;

/** The last calls with the accounts of the user: names and times only. */
export function callsHtml(context: PageContext, calls: readonly CallView[]): Html {
  const { texts } = context;
  const list = html`        <ul class="calls">
${calls.map((call) => callHtml(context, call))}        </ul>
        <p class="note">${texts.html('portal.calls_note')}</p>
`;
  return html`      <section aria-labelledby="calls">
        <h2 id="calls">${texts.html('portal.calls')}</h2>
${calls.length > 0 ? list : html`        <p class="empty">${texts.html('portal.no_calls')}</p>\n`}      </section>`;
}

function callHtml(context: PageContext, call: CallView): Html {
  const { texts } = context;
  const { tool, dataLanguage, provider, identifier, startedAt, status } = call;
  const name = tool === '' ? texts.html('portal.direct_call') : dataHtml(tool, { texts, dataLanguage });
  return html`          <li>
            <span class="tool">${name}</span>
            <span class="state ${status.toLowerCase()}">${texts.html(RESULT[status])}</span>
            <span class="note"><bdi>${provider}</bdi> <bdi>${breakable(identifier)}</bdi> ${timeHtml(context, startedAt)}</span>
          </li>
`;
}
