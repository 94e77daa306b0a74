import type { Step } from './agent.ts';
import type { CodeRegion } from './code-regions.ts';

export interface ConnectionView {
  name: string;
  title: string;
  /** The status of the account; NONE without one. */
  status: string;
}

export interface HomeView {
  user: string;
  /** The address of Valetkey, which serves the script for popups. */
  valetkey: string;
  connections: ConnectionView[];
  tasks: { name: string; question: string }[];
  offers: Readonly<Record<string, string>>;
  conversation: { question: string; steps: Step[] } | undefined;
  code: readonly CodeRegion[];
}

const STATES: Record<string, { text: string; button: string; kind: string }> = {
  NONE: { text: 'Not connected', button: 'Connect', kind: 'none' },
  ACTIVE: { text: 'Connected', button: 'Connect again', kind: 'active' },
  EXPIRED: { text: 'Needs to be reconnected', button: 'Reconnect', kind: 'expired' },
  DISCONNECTED: { text: 'Disconnected', button: 'Connect', kind: 'none' },
  PENDING_AUTH: { text: 'Not finished', button: 'Connect', kind: 'pending' },
  PENDING_VERIFICATION: { text: 'Waits for verification', button: 'Connect again', kind: 'pending' },
};

export function homePage(view: HomeView): string {
  const { user, valetkey, connections, tasks, offers, conversation, code } = view;
  const cards = connections.map(connectionHtml).join('');
  const questions = tasks
    .map(
      ({ name, question }) =>
        `<form method="post" action="/run/${name}"><button>${escapeHtml(question)}</button></form>`,
    )
    .join('');
  const said = conversation ? conversationHtml(conversation, offers) : '';
  const listing = code.map((region, index) => regionHtml(region, index === 0)).join('');
  return page(
    'Contoso Assistant',
    `<header><p class="name">Contoso Assistant</p><form method="post" action="/logout"><span>${escapeHtml(user)}</span> <button class="quiet">Log out</button></form></header>
<div class="columns"><main>
<section><div class="title"><h1>Connections</h1><form method="post" action="/manage"><button class="quiet">Manage</button></form></div>
<ul class="connections">${cards}</ul><p class="problem" role="alert" hidden></p></section>
<section><h2>Ask the assistant</h2><div class="questions">${questions}</div><ol class="transcript" aria-live="polite">${said}</ol></section>
</main>
<aside><div class="title"><h2>The code behind it</h2></div>${listing}
<div class="title"><span>The same data, as an operator sees it:</span> <form method="post" action="/console" target="_blank"><button>Open the console</button></form></div>
<p><a href="${valetkey}/docs" target="_blank" rel="noopener">API reference</a></p></aside></div>
<script src="${valetkey}/connect.js"></script><script src="/page.js" defer></script>`,
  );
}

function connectionHtml({ name, title, status }: ConnectionView): string {
  const { text, button, kind } = STATES[status] ?? { text: status, button: 'Connect', kind: 'pending' };
  return `<li><span class="mark ${name}" aria-hidden="true">${escapeHtml(title[0] ?? '')}</span><span class="what"><strong>${escapeHtml(title)}</strong>
<span class="state ${kind}">${text}</span></span><form class="connect" method="post" action="/connect/${name}"><button${kind === 'active' ? ' class="quiet"' : ''} aria-label="${button} ${escapeHtml(title)}">${button}</button></form></li>`;
}

function conversationHtml(
  { question, steps }: NonNullable<HomeView['conversation']>,
  offers: HomeView['offers'],
): string {
  return `<li class="question">${escapeHtml(question)}</li>${transcriptHtml(steps, offers)}`;
}

/** The steps of an agent, as items of a list. */
export function transcriptHtml(steps: readonly Step[], offers: HomeView['offers']): string {
  return steps.map((step) => `<li class="${step.kind}">${stepHtml(step, offers)}</li>`).join('');
}

function stepHtml(step: Step, offers: HomeView['offers']): string {
  switch (step.kind) {
    case 'thought':
    case 'answer':
      return escapeHtml(step.text);
    case 'call':
      return `<strong>${escapeHtml(step.tool)}</strong> on ${escapeHtml(offers[step.connector] ?? step.connector)} ${jsonHtml(step.input)}`;
    case 'result':
      return `${jsonHtml(step.data)} <span class="hint">${step.milliseconds} ms</span>`;
    case 'failed': {
      const { detail, connect } = step;
      const title = escapeHtml(offers[connect ?? ''] ?? '');
      const form = `<form class="connect" method="post" action="/connect/${connect}"><button>Connect ${title}</button></form>`;
      return `${escapeHtml(detail)}${connect ? form : ''}`;
    }
  }
}

function regionHtml({ title, file, line, code }: CodeRegion, isOpen: boolean): string {
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)} <span class="hint">${file}:${line}</span></summary><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></details>`;
}

/** @param next the address after the login */
export function loginPage(next: string): string {
  return page(
    'Contoso Assistant: log in',
    `<main class="narrow"><h1>Contoso Assistant</h1><p>An example application, whose agent works with accounts of its users. Any name will do.</p>
<form method="post" action="/login"><label for="user">User name</label> <input id="user" name="user" value="ada" autocomplete="username">
<input type="hidden" name="next" value="${escapeHtml(next)}"><button>Log in</button></form></main>`,
  );
}

export function messagePage(title: string, text: string): string {
  return page(
    title,
    `<main class="narrow"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p><p><a href="/">Back</a></p></main>`,
  );
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"></head>
<body>${content}</body></html>
`;
}

function jsonHtml(value: unknown): string {
  return `<code>${escapeHtml(JSON.stringify(value))}</code>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
