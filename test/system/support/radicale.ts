import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { tempDir } from '../../support/temp-dir.ts';

const RADICALE = '/usr/bin/radicale';

export interface Radicale {
  port: number;
  origin: string;
  stop(): Promise<void>;
}

/**
 * Starts Debian's CalDAV server on a free loopback port. Each user has a separate folder and authenticates with Basic
 * authentication.
 *
 * @param users plaintext passwords by user name
 */
export async function startRadicale(users: Readonly<Record<string, string>>): Promise<Radicale> {
  const folder = tempDir();
  const at = (name: string) => join(folder.path, name);
  writeFileSync(
    at('users'),
    Object.entries(users)
      .map(([user, password]) => `${user}:${password}\n`)
      .join(''),
  );
  writeFileSync(at('config'), configuration(at('users'), at('collections')));
  const child = spawn(RADICALE, ['--config', at('config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const port = await Promise.race([
    listening(createInterface(child.stderr)),
    ended.then(([code]) => Promise.reject(new Error(`Radicale ended with ${code}`))),
    once(child, 'error').then(([error]) => Promise.reject(new Error('Is radicale installed?', { cause: error }))),
  ]);
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill();
      await ended;
      folder.remove();
    },
  };
}

/** Removes the pause after a failed login, which prevents guessing, and makes the server print its port. */
function configuration(users: string, collections: string): string {
  return `[server]
hosts = 127.0.0.1:0
[encoding]
request = utf-8
stock = utf-8
[auth]
type = htpasswd
htpasswd_filename = ${users}
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = ${collections}
[logging]
level = info
`;
}

/** Returns the port that the server prints. Later lines are read and dropped, so that its output is never blocked. */
function listening(lines: ReturnType<typeof createInterface>): Promise<number> {
  return new Promise((resolve) => {
    lines.on('line', (line: string) => {
      const port = /Listening on '\[?127\.0\.0\.1\]?:(\d+)'/.exec(line)?.[1];
      if (port) resolve(Number(port));
    });
  });
}
