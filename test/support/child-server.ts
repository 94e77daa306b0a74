import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { request as send } from 'undici';
import type { TestRequest, TestResponse } from './server.ts';
import { CLIENT_ID, CLIENT_SECRET } from './server.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ChildOptions {
  /** Statements that the process runs first, to change its clock or its version, or to cause a fault. */
  before?: string | undefined;
  /** The maximum size of a file in KiB, as on a full disk. `liftFileLimit` removes the limit. */
  fileLimitKiB?: number;
  /** The standard input of the process; empty by default. */
  input?: string;
  /** Receives each line of the log, from the beginning. */
  onLog?: (line: string) => void;
  /** The directory of the program, if it is not the one that is tested. */
  root?: string;
  /** A command that starts the process, such as one that records its system calls. */
  through?: string[];
}

/** Starts `valetkey` in a separate process, with only the given environment variables. */
function spawnCommand(
  args: string[],
  env: Record<string, string>,
  { before, fileLimitKiB, input, root = ROOT, through = [] }: ChildOptions,
) {
  const first = before === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(before)}`];
  const command = [...through, process.execPath, ...first, join(root, 'cli/valetkey.js'), ...args];
  const limited = ['bash', '-c', `ulimit -S -f ${fileLimitKiB}; exec "$0" "$@"`, ...command];
  const [file = '', ...rest] = fileLimitKiB === undefined ? command : limited;
  const child = spawn(file, rest, { env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  child.stdin?.end(input);
  return child as typeof child & { stdout: Readable; stderr: Readable };
}

/** Runs a command of the operator until it ends. */
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

/** A client of a server at an address. */
export interface ServerClient {
  origin: string;
  /** Sends a request, with an access token of the first client. */
  call(method: string, path: string, request?: Pick<TestRequest, 'body' | 'headers'>): Promise<TestResponse>;
  /** Returns an access token of the first client. */
  token(): Promise<string>;
}

/** A server in a separate process, as an operator starts it. */
export interface ChildServer extends ServerClient {
  child: ChildProcess;
  /** The lines of its log. */
  logs: string[];
  /** Returns its output for the operator's terminal. */
  errors(): string;
  /** Stops the process and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the process of a server, without waiting until it listens. */
export function spawnServer(env: Record<string, string>, options: ChildOptions = {}) {
  const variables = { PORT: '0', BASE_URL: 'http://localhost', VALETKEY_RATE_LIMIT: 'off' };
  const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
  return spawnCommand(['serve'], { ...variables, ...client, ...env }, options);
}

/**
 * Starts a server in a separate process, and waits until it listens.
 *
 * @throws Error with the output of the process if it ends instead of listening
 */
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
  return {
    ...clientOf(origin),
    child,
    logs,
    errors: () => errors,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await gone;
      return { code, signal: by };
    },
  };
}

/**
 * Returns a client of the server at an address.
 *
 * @param reset whether each request has its own connection, so that the requests go to all servers behind the address
 */
export function clientOf(origin: string, reset = false): ServerClient {
  let token: string | undefined;
  return {
    origin,
    async call(method, path, { body, headers = {} } = {}) {
      token ??= await fetchToken(origin, reset);
      return exchange(origin, method, path, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        reset,
      });
    },
    token: () => fetchToken(origin, reset),
  };
}

/** Removes the limit of a server that was started with `fileLimitKiB`. */
export async function liftFileLimit({ child }: ChildServer): Promise<void> {
  const [code] = await once(spawn('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']), 'exit');
  if (code !== 0) throw new Error(`prlimit ended with ${code}`);
}

async function fetchToken(origin: string, reset = false): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
  const answer = await exchange(origin, 'POST', '/oauth/token', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    reset,
  });
  if (answer.status !== 200) throw new Error(`no access token: ${answer.text}`);
  return answer.body.access_token;
}

async function exchange(
  origin: string,
  method: string,
  path: string,
  options: { headers: Record<string, string>; body: string | null; reset?: boolean },
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
