import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinkApp } from '../examples/link-app.ts';
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

  const api = createApi(
    valetkey,
    await getToken(valetkey, server.client),
    createNarrator(() => {}),
  );
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
  const settings = { user_verify_urls: [`${url}/verify`], mcp_login_url: `${url}/agents/login` };
  await api.call(200, 'PUT', '/api/v1/environment', settings);
  const { connections } = (await api.call(200, 'GET', '/api/v1/connections')).body;
  const mcpUrls = connections.map(({ mcp_server_url: address }: { mcp_server_url: string }) => address);
  const offers = {
    acme: { title: 'Acme Files', tool: 'http_get', input: { path: '/files' } },
    notes: { title: 'Notes', tool: 'http_get', input: { path: '/notes' } },
  };
  await open(createLinkApp({ valetkey, client: server.client, url, offers }), appPort);

  print(`The application   ${url}
Valetkey          ${valetkey}   (its API: ${valetkey}/docs; its data: ${server.storedIn})
Acme Files        ${acme.origin}   (consents by OAuth; its tokens live ${ACME_TOKEN_SECONDS} seconds)
Notes             ${notes}   (takes an API key)

1  Open the application and log in under any name.
2  Press "Connect Acme Files", continue, sign in at Acme under any name and press "Allow".
3  Go back to the application and press "Run http_get": Acme returns the files of that name.
   Press it again after a minute: the token has ended meanwhile, and was refreshed.
4  "Connect Notes" shows the form for a key. The right one is ${NOTES_KEY}
5  Press "Connect Acme Files", copy the address of the page, log in to the application under another name in a
   private window, and finish the link there: the application refuses it.
6  Give an MCP client one of these addresses and nothing else, for example: claude mcp add --transport http acme <address>
   It opens the application to log in, and a page to allow its access: ${mcpUrls.join(' ')}

To call the API, with these the commands of the README work at ${valetkey}:
  export VALETKEY_CLIENT_ID=${server.client.id}
  export VALETKEY_CLIENT_SECRET=${server.client.secret}

Ctrl-C ends it all and removes its data.`);
  return stack.move();
}

if (import.meta.main) {
  // The listeners stay: a second Ctrl-C, or a signal from npm in addition to the terminal's, would end the process
  // before the data is removed.
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
