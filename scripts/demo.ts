import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACME, startAcme } from './demo/acme.ts';
import { createApi, getToken } from './demo/api.ts';
import { startCounterparts } from './demo/counterparts.ts';
import { type EngineName, readEngine, startDemoServer } from './demo/engine.ts';
import { playGithub } from './demo/github-act.ts';
import { playLink } from './demo/link-act.ts';
import { check, createNarrator } from './demo/narrator.ts';
import { NOTES_BASE, playNotes } from './demo/notes-act.ts';
import { freePort } from './demo/process.ts';

/** The token's lifetime: long enough for a call, short enough to wait for its expiry. */
const ACME_TOKEN_SECONDS = 4;

/**
 * Shows the main features end to end with local applications. It uses its own server with a new data directory, and
 * free loopback ports. Every step checks its result; the first failure ends the demo with exit code 1.
 */
async function playDemo(engine: EngineName, print: (line: string) => void): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'valetkey-demo-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const { notes, github, stop } = await startCounterparts();
  stack.defer(stop);
  const acme = await startAcme(ACME_TOKEN_SECONDS);
  stack.defer(acme.stop);
  const overrides = `${NOTES_BASE}=${notes.origin},https://api.github.com=${github.origin},${ACME}=${acme.origin}`;
  // Links contain the server's address, so the port must be known in advance.
  const port = String(await freePort());
  const env = {
    PORT: port,
    METRICS_PORT: '0',
    BASE_URL: `http://127.0.0.1:${port}`,
    VALETKEY_ENDPOINT_OVERRIDES: overrides,
  };
  const server = await startDemoServer(engine, dataDir, env, stack);

  const narrator = createNarrator(print);
  print(`Valetkey runs at ${server.origin} with its data in ${server.storedIn}.`);
  print(
    `The notes app is at ${notes.origin}, an emulator of GitHub at ${github.origin}, Acme Files at ${acme.origin}.`,
  );

  const token = await narrator.step('Get an access token with the client that the first start has made', () =>
    getToken(server.origin, server.client),
  );
  const api = createApi(server.origin, token, narrator);
  narrator.chapter('Your own application');
  await playNotes({ api, narrator, notes, operate: server.operate });
  narrator.chapter('A built-in connector');
  await playGithub({ api, narrator, github });
  narrator.chapter('A link for a person');
  await playLink({ api, narrator, acme, origin: server.origin });

  await narrator.step(
    'Stop the server: it ends cleanly, and nothing that it has logged holds a credential',
    async () => {
      const code = await server.stop();
      const secrets = [server.client.secret, token, notes.key, ...Object.values(github.tokens)];
      narrator.say(
        `exit code ${code}; ${server.stdout.trim().split('\n').length} lines, none of ${secrets.length} secrets`,
      );
      check(code === 0, 'the exit code is 0');
      check(!secrets.some((secret) => server.stdout.includes(secret)), 'the log has no secret');
    },
  );
  print('\nEverything went as it should. Server, applications and data are removed.');
}

if (import.meta.main) {
  try {
    await playDemo(readEngine(process.argv.slice(2)), console.log);
  } catch (error) {
    console.error(`\n${(error as Error).message}`);
    process.exitCode = 1;
  }
}
