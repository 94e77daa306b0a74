import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PATIENCE_MS = 300_000;

export interface ClientRun {
  code: number | null;
  /** Both streams, in the order in which they were written. */
  output: string;
  stdout: string;
}

export interface RunOptions {
  /** The home directory of the client, where it keeps its tokens. */
  home: string;
  /** The folder in which the client is started; by default the home directory. */
  folder?: string;
  env?: Record<string, string>;
  /** Whether the client demands a terminal. */
  isInteractive?: boolean;
  /**
   * Receives the address at which the client lets its user log in. Without it, a client that asks for a login is
   * stopped.
   */
  onLogin?: ((authorizationUrl: string) => Promise<unknown>) | undefined;
  /** Lines for a client that is itself a server on its standard input; it is stopped when its output matches. */
  conversation?: { input: string; until: RegExp };
}

/**
 * Runs a client until it ends, and logs its user in if it asks for it. A question with `[Y/n]` gets a yes. The first
 * authorization address that the client prints, or opens with the command `$BROWSER`, is passed to `onLogin`.
 */
export function runClient(command: readonly string[], options: RunOptions): Promise<ClientRun> {
  const { home, folder = home, env = {}, isInteractive = false, onLogin, conversation } = options;
  const { PATH = '' } = process.env;
  const [file = '', ...args] = isInteractive
    ? ['script', '-qfec', command.map(quoted).join(' '), '/dev/null']
    : command;
  const child = spawn(file, args, {
    cwd: folder,
    env: { PATH, HOME: home, TERM: 'xterm-256color', BROWSER: browserCommand(home), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (conversation) child.stdin.write(conversation.input);
  else if (!isInteractive) child.stdin.end();
  const run: ClientRun = { code: null, output: '', stdout: '' };
  let login: Promise<unknown> | undefined;
  let isConfirmed = false;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      child.kill('SIGKILL');
      reject(new Error(`${error.message}\n${command.join(' ')} printed:\n${run.output}`));
    };
    const timer = setTimeout(() => fail(new Error('the client did not end in time')), PATIENCE_MS);
    const read = (text: string) => {
      run.output += text;
      const [, url] = AUTHORIZATION_URL.exec(run.output) ?? [];
      if (url !== undefined) login ??= onLogin ? onLogin(url).catch(fail) : Promise.resolve(child.kill());
      if (conversation?.until.test(run.stdout)) child.kill();
      if (isInteractive && !isConfirmed && run.output.includes('[Y/n]')) isConfirmed = child.stdin.write('y\n');
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      run.stdout += text;
      read(text);
    });
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('error', fail);
    child.once('close', (code) => {
      clearTimeout(timer);
      void Promise.resolve(login).then(() => resolve({ ...run, code }));
    });
  });
}

/** Requires a character after the address, which shows that the address is complete. */
const AUTHORIZATION_URL = /(http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?[\w%&=.+*~-]+)[^\w%&=.+*~-]/;

/** A browser that prints the address on standard error of the client that opens it. */
function browserCommand(home: string): string {
  const path = join(home, 'browser');
  writeFileSync(path, '#!/bin/sh\necho "$@" >&2\n', { mode: 0o755 });
  return path;
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
