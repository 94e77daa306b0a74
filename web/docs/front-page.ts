import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { docsLayout } from './layout.ts';

export interface ServiceView {
  version: string;
  ready: boolean;
  /** The address at which clients reach the environment of the request. */
  baseUrl: string;
  /** Whether the server has the console. */
  hasConsole: boolean;
}

const CONSOLE = {
  href: '/console',
  label: 'Console',
  text: 'Accounts, calls, connections and settings, for operators.',
};

const LINKS = [
  { href: '/docs', label: 'API reference', text: 'Every operation, with samples, and a form to try it.' },
  { href: '/docs/guides', label: 'Guides', text: 'Connect accounts, run tools, receive events, operate a server.' },
  {
    href: '/docs/guides/mcp',
    label: 'MCP',
    text: 'Add this server to Claude, ChatGPT, Cursor, VS Code and other clients.',
  },
  {
    href: '/openapi.json',
    label: 'OpenAPI document',
    text: 'The contract, for generators and tools. Also as YAML at /openapi.yaml.',
  },
  {
    href: '/llms.txt',
    label: 'Documentation for agents',
    text: 'A list of all documents for language models, at /llms.txt.',
  },
];

/** The front page of a server, for a browser. */
export function frontPage({ version, ready, baseUrl, hasConsole }: ServiceView): Html {
  const links = [...(hasConsole ? [CONSOLE] : []), ...LINKS].map(
    ({ href, label, text }) => html`        <li><a href="${href}">${label}</a><p>${text}</p></li>\n`,
  );
  return docsLayout({
    title: 'Valetkey',
    content: html`    <main id="content" class="page front">
      <h1>Valetkey</h1>
      <p class="lead">Authenticated access to third-party applications for AI agents.</p>
      <dl class="facts">
        <div><dt>State</dt><dd class="${ready ? 'ready' : 'failing'}">${ready ? 'Ready' : 'Not ready'}</dd></div>
        <div><dt>Version</dt><dd>${version}</dd></div>
        <div><dt>Address</dt><dd>${baseUrl}</dd></div>
      </dl>
      <ul class="cards">
${links}      </ul>
      <h2>First call</h2>
      <pre tabindex="0"><code>curl -s ${baseUrl}/oauth/token -d grant_type=client_credentials \\
  -d client_id="$CLIENT_ID" -d client_secret="$CLIENT_SECRET"</code></pre>
      <p>The first start of the server printed the client. The guide <a href="/docs/guides/getting-started">Getting
        started</a> continues from there.</p>
    </main>`,
  });
}
