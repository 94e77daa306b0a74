import { join } from 'node:path';
import type { RunningProcess } from './process.ts';
import { startProcess } from './process.ts';

export interface ServerProcess extends RunningProcess {
  /** The address of the API. */
  readonly origin: string;
  /** The API client that the first start shows once. */
  readonly client: { id: string; secret: string };
}

const ROOT = join(import.meta.dirname, '../..');
const READY = /^\{.*"origin":"([^"]+)".*"msg":"listening"\}$/m;
/** Matches the first API client in the output of the command that created it. */
export const CLIENT = /export VALETKEY_CLIENT_ID=(\S+)\s+export VALETKEY_CLIENT_SECRET=(\S+)/;

/**
 * Starts the server as an operator would, on a free port, with a new data directory.
 *
 * @param env further environment variables besides PORT and DATA_DIR
 * @param command the command that starts the server; by default `valetkey serve` of this repository
 */
export async function startServerProcess(
  dataDir: string,
  env: Record<string, string> = {},
  command: readonly [string, ...string[]] = [process.execPath, 'cli/valetkey.js', 'serve'],
): Promise<ServerProcess> {
  const [file, ...args] = command;
  const options = { cwd: ROOT, env: { PORT: '0', DATA_DIR: dataDir, ...env } };
  const { process: running, match } = await startProcess(file, args, READY, options);
  const [, id = '', secret = ''] = CLIENT.exec(running.stderr) ?? [];
  return {
    get stdout() {
      return running.stdout;
    },
    get stderr() {
      return running.stderr;
    },
    stop: () => running.stop(),
    origin: match[1] as string,
    client: { id, secret },
  };
}
