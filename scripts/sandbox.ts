import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAssistant } from '../examples/assistant/app.ts';
import { createNotesApp } from '../examples/notes-app.ts';
import { ACME, startAcme } from './demo/acme.ts';
import { createApi, getToken } from './demo/api.ts';
import { type EngineName, readEngine, startDemoServer } from './demo/engine.ts';
import { createFrontDoor } from './demo/front-door.ts';
import { introduceAcme } from './demo/introduce-acme.ts';
import { createNarrator } from './demo/narrator.ts';
import { NOTES_BASE, NOTES_PATTERN } from './demo/notes-act.ts';
import { freePort } from './demo/process.ts';

const NOTES_KEY = 'notes-demo-key-1234';
/** A short lifetime, so that a refresh can be observed. */
const ACME_TOKEN_SECONDS = 60;

/**
 * Starts everything that a user needs to click through a link: Valetkey, an application, and two providers.
 *
 * @param engine the kind of database in which Valetkey stores its data
 * @param firstPort the first of four consecutive ports; 0 to use any free ports
 * @returns stops everything when it is disposed
 */
async function openSandbox(
  engine: EngineName,
  firstPort: number,
  print: (line: string) => void,
): Promise<AsyncDisposableStack> {
  const port = (index: number) => (firstPort === 0 ? 0 : firstPort + index);
  await using stack = new AsyncDisposableStack();
  const open = async (server: Server, at: number): Promise<string> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  };

  const dataDir = mkdtempSync(join(tmpdir(), 'valetkey-sandbox-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const acme = await startAcme(ACME_TOKEN_SECONDS, port(2));
  stack.defer(acme.stop);
  const notes = await open(createNotesApp(NOTES_KEY), port(3));
  const inner = await freePort();
  const valetkey = await open(createFrontDoor(inner, { known: ACME, target: acme.origin }), port(1));
  const env = {
    PORT: String(inner),
    METRICS_PORT: '0',
    BASE_URL: valetkey,
    VALETKEY_ENDPOINT_OVERRIDES: `${NOTES_BASE}=${notes},${ACME}=${acme.origin}`,
  };
  const server = await startDemoServer(engine, dataDir, env, stack);

  const silent = createNarrator(() => {});
  const api = createApi(valetkey, await getToken(valetkey, server.client), silent);
  await introduceAcme(api, acme, valetkey);
  const provider = {
    display_name: 'Notes',
    auth_patterns: [NOTES_PATTERN],
    proxy_enabled: true,
    proxy_url: NOTES_BASE,
  };
  const { identifier } = (await api.call(201, 'POST', '/api/v1/custom-providers', provider)).body.provider;
  if (identifier !== 'notes')
    await api.call(201, 'POST', '/api/v1/connections', { connector: identifier, key_id: 'notes' });

  const appPort = port(0) || (await freePort());
  const url = `http://127.0.0.1:${appPort}`;
  const settings = {
    application_name: 'Contoso Assistant',
    accent_color: '#0b6e4f',
    user_verify_urls: [`${url}/verify`],
    mcp_login_url: `${url}/agents/login`,
    // The console then shows changes immediately.
    keep_events: true,
  };
  await api.call(200, 'PUT', '/api/v1/environment', settings);
  const { connections } = (await api.call(200, 'GET', '/api/v1/connections')).body;
  const mcpUrls = connections.map(({ mcp_server_url: address }: { mcp_server_url: string }) => address);
  const consoleUrl = async () => {
    // A new token each time, because the sandbox may run for longer than a token is valid.
    const operators = createApi(valetkey, await getToken(valetkey, server.client), silent);
    const invited = { operator: 'sandbox', role: 'OWNER' };
    return (await operators.call(201, 'POST', '/api/v1/operator_sessions', invited)).body.login_url as string;
  };
  const offers = { acme: 'Acme Files', notes: 'Notes' };
  await open(createAssistant({ valetkey, client: server.client, url, offers, consoleUrl }), appPort);

  print(`The application   ${url}
Valetkey          ${valetkey}   (its API: ${valetkey}/docs; its data: ${server.storedIn})
Acme Files        ${acme.origin}   (consents by OAuth; its tokens live ${ACME_TOKEN_SECONDS} seconds)
Notes             ${notes}   (takes an API key)

Console           ${await consoleUrl()}
                  (works once; the application opens it too)

1  Open the application, log in under any name, and ask the assistant for your files. It needs Acme Files first.
2  Connect Acme Files: sign in at Acme under any name and press "Allow". Then ask again; the code beside it shows each step.
   Ask again after a minute: the token has expired meanwhile, and is refreshed.
3  Connect Notes shows the form for a key. The right one is ${NOTES_KEY}
4  Ask it to write a note about the files: the agent calls tools of both. "Manage" opens the portal of the user.
5  Open the console: the same accounts and calls, as an operator sees them.
6  Press Connect, copy the address of the page, log in to the application under another name in a private window, and finish
   the link there: the application refuses it.
7  Give an MCP client one of these addresses and nothing else, for example: claude mcp add --transport http acme <address>
   It opens the application to log in, and a page to allow its access: ${mcpUrls.join(' ')}

To call the API, with these the commands of the README work at ${valetkey}:
  export VALETKEY_CLIENT_ID=${server.client.id}
  export VALETKEY_CLIENT_SECRET=${server.client.secret}

Ctrl-C ends it all and removes its data.`);
  return stack.move();
}

if (import.meta.main) {
  // The listeners are not removed after the first signal. Without them, a second Ctrl-C, or a signal from npm in
  // addition to the terminal's, would end the process before the data is removed.
  const ending = new Promise<unknown>((resolve) => process.on('SIGINT', resolve).on('SIGTERM', resolve));
  try {
    const engine = readEngine(process.argv.slice(2));
    await using _sandbox = await openSandbox(engine, Number(process.env['SANDBOX_PORT'] ?? 9800), console.log);
    await ending;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
