import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startCluster } from './cluster.ts';
import { createTemplate, SOCKET } from './databases.ts';

/** Starts a PostgreSQL server for tests, and runs a command with PostgreSQL as the engine of the tests. */
const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: node test/support/postgres/with-postgres.ts <command> …');
const cluster = startCluster();
try {
  await createTemplate(cluster.socket);
  const env = { ...process.env, [SOCKET]: cluster.socket, VALETKEY_TEST_ENGINE: 'postgres' };
  const child = spawn(command, args, { env, stdio: 'inherit' });
  // A signal ends the command; the server is stopped after it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  cluster.stop();
}
