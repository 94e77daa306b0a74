import { breakable } from '../breakable.ts';
import type { PageContext } from '../connect/context.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { confirmedHtml, type FormView } from './forms.ts';
import { timeHtml } from './times.ts';

/** An MCP client to which the user has given access. */
export interface GrantView {
  client: string;
  /** The host to which users of the client return. It is shown, because a client can give itself any name. */
  host: string;
  /** The applications whose accounts it can use. */
  providers: readonly string[];
  /** Milliseconds UTC. */
  createdAt: number;
  lastUsedAt: number;
  revoke: FormView;
}

/** The agents that have access to the accounts of the user. */
export function grantsHtml(context: PageContext, grants: readonly GrantView[]): Html {
  const { texts } = context;
  const list = html`        <p>${texts.html('portal.agents_text')}</p>
        <ul class="cards">
${grants.map((grant, index) => grantHtml(context, grant, `agent_${index}`))}        </ul>
`;
  return html`      <section aria-labelledby="agents">
        <h2 id="agents">${texts.html('portal.agents')}</h2>
${grants.length > 0 ? list : html`        <p class="empty">${texts.html('portal.no_agents')}</p>\n`}      </section>
`;
}

function grantHtml(context: PageContext, grant: GrantView, id: string): Html {
  const { texts } = context;
  const { client, host, providers, createdAt, lastUsedAt, revoke } = grant;
  // Passed as HTML, so that the list is not isolated: it has the text direction of the sentence.
  const uses = html`            <p>${texts.html('portal.agent_uses', { providers: html`${texts.list(providers)}` })}</p>\n`;
  const question = texts.html('portal.revoke_text', { client });
  return html`          <li class="card">
            <div class="head"><h3 id="${id}"><bdi>${breakable(client)}</bdi><span class="identifier"><bdi>${breakable(host)}</bdi></span></h3></div>
${providers.length > 0 ? uses : html``}            <p class="note"><span>${texts.html('portal.allowed', { time: timeHtml(context, createdAt) })}</span><span>${texts.html('portal.last_used', { time: timeHtml(context, lastUsedAt) })}</span></p>
            <div class="actions">${confirmedHtml(revoke, texts.html('portal.revoke'), question, id)}</div>
          </li>
`;
}
