import type { Server } from 'node:http';
import type { Emulator } from 'emulate';
import { createEmulator } from 'emulate';
import { createNotesApp } from '../../examples/notes-app.ts';

/** The third-party applications of the demo, all on loopback. */
export interface Counterparts {
  notes: { origin: string; key: string };
  github: { origin: string; tokens: { ada: string; grace: string } };
  stop(): Promise<void>;
}

const NOTES_KEY = 'notes_7f3a9c1e5b2d';
const TOKENS = { ada: 'ghp_ada0000000000000000', grace: 'ghp_grace00000000000000' };

export async function startCounterparts(): Promise<Counterparts> {
  const notes = createNotesApp(NOTES_KEY);
  await new Promise<void>((resolve) => notes.listen(0, '127.0.0.1', resolve));
  const github = await startGithub();
  return {
    notes: { origin: originOf(notes), key: NOTES_KEY },
    github: { origin: github.url.replace('localhost', '127.0.0.1'), tokens: TOKENS },
    async stop() {
      notes.closeAllConnections();
      await Promise.all([new Promise((resolve) => notes.close(resolve)), github.close()]);
    },
  };
}

/**
 * An emulator of GitHub. It treats an unknown token as its first user instead of rejecting it, so a wrong credential
 * shows as that user's name.
 */
function startGithub(): Promise<Emulator> {
  return createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: {
        [TOKENS.ada]: { login: 'ada', scopes: ['repo'] },
        [TOKENS.grace]: { login: 'grace', scopes: ['repo'] },
      },
      github: {
        users: [{ login: 'nobody' }, { login: 'ada' }, { login: 'grace' }],
        repos: [{ owner: 'ada', name: 'engine' }],
      },
    },
  });
}

function originOf(server: Server): string {
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}`;
}
