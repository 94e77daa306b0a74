import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request as send } from 'undici';
import type { TestRequest, TestResponse } from './server.ts';
import { CLIENT_ID, CLIENT_SECRET } from './server.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMAND = join(ROOT, 'cli/valetkey.js');

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ChildOptions {
  /** Statements that the process runs first, to change its clock or its version, or to plant a fault. */
  before?: string | undefined;
  /** No file may grow beyond so many KiB, as on a full disk. It is lifted with `liftFileLimit`. */
  fileLimitKiB?: number;
  /** Is given each line of the log, from the beginning. */
  onLog?: (line: string) => void;
  /** A command that runs the process and is replaced by it, such as one that records its system calls. */
  through?: string[];
}

/** Starts `valetkey` in a separate process, with only the given environment variables. */
function spawnCommand(
  args: string[],
  env: Record<string, string>,
  { before, fileLimitKiB, through = [] }: ChildOptions,
) {
  const first = before === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(before)}`];
  const command = [...through, process.execPath, ...first, COMMAND, ...args];
  const limited = ['bash', '-c', `ulimit -S -f ${fileLimitKiB}; exec "$0" "$@"`, ...command];
  const [file = '', ...rest] = fileLimitKiB === undefined ? command : limited;
  return spawn(file, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs one of the operator's commands to its end. */
export async function runCommand(
  args: string[],
  env: Record<string, string> = {},
  options: ChildOptions = {},
): Promise<CommandResult> {
  const child = spawnCommand(args, env, options);
  const result: CommandResult = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    result.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    result.stderr += chunk;
  });
  [result.code] = await once(child, 'close');
  return result;
}

/** A server in a separate process, as an operator starts it. */
export interface ChildServer {
  origin: string;
  child: ChildProcess;
  /** Lines of its log. */
  logs: string[];
  /** What it has said to the person at the terminal. */
  errors(): string;
  /** Sends a request, with an access token of its first client. */
  call(method: string, path: string, request?: Pick<TestRequest, 'body' | 'headers'>): Promise<TestResponse>;
  /** An access token of its first client. */
  token(): Promise<string>;
  /** Ends it and waits for it to be gone. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** The process of a server, which may not listen yet. */
export function spawnServer(env: Record<string, string>, options: ChildOptions = {}) {
  const variables = { PORT: '0', BASE_URL: 'http://localhost', VALETKEY_RATE_LIMIT: 'off' };
  const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
  return spawnCommand(['serve'], { ...variables, ...client, ...env }, options);
}

/** @throws Error with what the process has said when it ends instead of listening */
export async function startChildServer(env: Record<string, string>, options: ChildOptions = {}): Promise<ChildServer> {
  const child = spawnServer(env, options);
  const logs: string[] = [];
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      logs.push(line);
      options.onLog?.(line);
      const entry = JSON.parse(line);
      if (entry.msg === 'listening') resolve(entry.origin);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errors}${logs.join('\n')}`)));
  });
  const gone = once(child, 'close');
  let token: string | undefined;
  const call = async (
    method: string,
    path: string,
    { body, headers = {} }: Pick<TestRequest, 'body' | 'headers'> = {},
  ) => {
    token ??= await fetchToken(origin);
    return exchange(origin, method, path, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  };
  return {
    origin,
    child,
    logs,
    errors: () => errors,
    call,
    token: () => fetchToken(origin),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await gone;
      return { code, signal: by };
    },
  };
}

/** Removes the limit of a server that was started with `fileLimitKiB`. */
export async function liftFileLimit({ child }: ChildServer): Promise<void> {
  const [code] = await once(spawn('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']), 'exit');
  if (code !== 0) throw new Error(`prlimit ended with ${code}`);
}

async function fetchToken(origin: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
  const answer = await exchange(origin, 'POST', '/oauth/token', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
  return answer.body.access_token;
}

async function exchange(
  origin: string,
  method: string,
  path: string,
  options: { headers: Record<string, string>; body: string | null },
): Promise<TestResponse> {
  const answer = await send(`${origin}${path}`, { method: method as 'GET', ...options });
  const text = await answer.body.text();
  const isJson = /json/.test(String(answer.headers['content-type']));
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
  };
}
