import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { serverUser } from '../../../scripts/postgres/cluster.ts';

/** A PgBouncer in transaction mode in front of a test server. */
export interface Pooler {
  /** The directory of its socket. */
  socket: string;
  /** Ends PgBouncer immediately with all its connections, and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The variable `PGBOUNCER` selects a program of another version than Debian's. */
const PROGRAM = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer';
const PORT = 5432;

/** Whether the program supports prepared statements in transaction mode, as versions since 1.21 do. */
export function supportsPreparedStatements(): boolean {
  const [, major, minor] =
    /^PgBouncer (\d+)\.(\d+)/.exec(execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/**
 * @param server the directory of the socket of the server
 * @param prepares whether clients can use prepared statements; only true if the program supports them
 */
export async function startPooler(server: string, prepares = supportsPreparedStatements()): Promise<Pooler> {
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-pooler-'));
  const user = serverUser();
  chmodSync(directory, 0o755);
  if (user) chownSync(directory, user.uid, user.gid);
  const settings = [
    '[databases]',
    `* = host=${server} port=${PORT} user=postgres`,
    '[pgbouncer]',
    'pool_mode = transaction',
    'auth_type = any',
    'listen_addr =',
    `listen_port = ${PORT}`,
    `unix_socket_dir = ${directory}`,
    'max_client_conn = 1000',
    'default_pool_size = 20',
    // As docs/postgresql.md says.
    'ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout',
    ...(supportsPreparedStatements() ? [`max_prepared_statements = ${prepares ? 1000 : 0}`] : []),
  ];
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(file, `${settings.join('\n')}\n`, { mode: 0o644 });
  const start = async () => {
    const child = spawn(PROGRAM, ['-q', file], { ...user, cwd: directory, stdio: 'ignore' });
    const failed = once(child, 'error').then(([error]) => Promise.reject(error));
    await Promise.race([listening(join(directory, `.s.PGSQL.${PORT}`), child), failed]);
    return child;
  };
  let child = await start();
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    socket: directory,
    async restart() {
      await end('SIGKILL');
      // PgBouncer does not start while the socket file of a killed PgBouncer exists.
      rmSync(join(directory, `.s.PGSQL.${PORT}`), { force: true });
      child = await start();
    },
    async stop() {
      await end('SIGTERM');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function listening(path: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(path);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await pause(20);
  }
  throw new Error(`pgbouncer ended with ${child.exitCode}`);
}
