import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startCluster } from '../postgres/cluster.ts';
import { CLIENT, type ServerProcess, startServerProcess } from './server-process.ts';

const ENGINES = ['sqlite', 'postgres'] as const;

export type EngineName = (typeof ENGINES)[number];

/**
 * Reads `--engine=postgres` from the command line; SQLite is the default. @throws Error for another engine or option
 */
export function readEngine(args: string[]): EngineName {
  const { engine = 'sqlite' } = parseArgs({ args, options: { engine: { type: 'string' } } }).values;
  const found = ENGINES.find((name) => name === engine);
  if (!found) throw new Error(`unknown engine "${engine}" (ENGINE must be sqlite or postgres)`);
  return found;
}

export interface DemoServer extends ServerProcess {
  /** A text for users that says where the server stores its data. */
  storedIn: string;
  /** Runs a command of the operator on the data of the server. @returns its standard output */
  operate(...args: string[]): Promise<string>;
}

const ROOT = join(import.meta.dirname, '../..');

/**
 * Starts a server with new data: in a file of `dataDir`, or on its own PostgreSQL server in a temporary directory.
 *
 * @param env settings of the server, in addition to those of its data
 * @param stack stops the server and removes its database when it is disposed
 */
export async function startDemoServer(
  engine: EngineName,
  dataDir: string,
  env: Record<string, string>,
  stack: AsyncDisposableStack,
): Promise<DemoServer> {
  const settings: Record<string, string> = { DATA_DIR: dataDir, ...env };
  const run = async (...args: string[]) =>
    await promisify(execFile)(process.execPath, ['cli/valetkey.js', ...args], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '', ...settings },
    });
  let storedIn = dataDir;
  let initialised = '';
  if (engine === 'postgres') {
    const cluster = startCluster();
    stack.defer(async () => cluster.stop());
    storedIn = `PostgreSQL on a socket in ${cluster.socket}, its keys in ${dataDir}`;
    settings['DATABASE_URL'] = cluster.url('postgres');
    await run('db', 'migrate');
    initialised = (await run('init')).stderr;
  }
  const server = await startServerProcess(dataDir, settings);
  stack.defer(async () => void (await server.stop()));
  const [, id, secret] = CLIENT.exec(initialised) ?? [];
  return {
    get stdout() {
      return server.stdout;
    },
    get stderr() {
      return server.stderr;
    },
    stop: server.stop,
    origin: server.origin,
    client: id && secret ? { id, secret } : server.client,
    storedIn,
    operate: async (...args) => (await run(...args)).stdout,
  };
}
