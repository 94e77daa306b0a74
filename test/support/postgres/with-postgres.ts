import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startCluster } from '../../../scripts/postgres/cluster.ts';
import { createTemplate, POOLER, SOCKET } from './databases.ts';
import { type Pooler, startPooler } from './pgbouncer.ts';

/**
 * Starts a PostgreSQL server for tests, and runs a command with PostgreSQL as the engine of the tests. With `--pooler`,
 * PgBouncer is between them; with `--pair`, each test server is a pair of servers behind one address.
 */
const [option] = process.argv.slice(2);
const isPooled = option === '--pooler';
const isPair = option === '--pair';
const [command, ...args] = process.argv.slice(isPooled || isPair ? 3 : 2);
if (command === undefined)
  throw new Error('usage: node test/support/postgres/with-postgres.ts [--pooler | --pair] <command> …');
const cluster = startCluster();
let pooler: Pooler | undefined;
try {
  await createTemplate(cluster.socket);
  pooler = isPooled ? await startPooler(cluster.socket) : undefined;
  const env = {
    ...process.env,
    [SOCKET]: cluster.socket,
    VALETKEY_TEST_ENGINE: 'postgres',
    ...(isPair && { VALETKEY_TEST_SERVERS: '2' }),
    ...(pooler && { [POOLER]: pooler.socket }),
  };
  const child = spawn(command, args, { env, stdio: 'inherit' });
  // A signal ends the command; the server is stopped after it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await pooler?.stop();
  cluster.stop();
}
