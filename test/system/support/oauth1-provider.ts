import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Debian's own Python, because only it finds Debian's packages. */
const PYTHON = '/usr/bin/python3';

/** The client that the provider has registered. */
export const CLIENT = { key: 'client-key-of-the-tests', secret: 'client secret & more' };

export interface OAuth1Counterpart {
  origin: string;
  port: number;
  stop(): Promise<void>;
}

/**
 * Starts the provider of oauth1_provider.py on a free loopback port.
 *
 * @param name its public https origin; without one, its address
 */
export async function startOAuth1Provider(name?: string): Promise<OAuth1Counterpart> {
  const script = join(import.meta.dirname, 'oauth1_provider.py');
  const child = spawn(PYTHON, ['-B', script, ...(name === undefined ? [] : [name])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    ended.then(([code]) =>
      Promise.reject(new Error(`The provider ended with ${code}: is python3-oauthlib installed?`)),
    ),
  ]);
  const { port } = JSON.parse(line[0]) as { port: number };
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
