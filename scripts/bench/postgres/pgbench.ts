import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresProgram } from '../../postgres/cluster.ts';

/** The scripts that pgbench, PostgreSQL's own benchmark, runs on the same server. Results are compared with them. */
const BASELINES = {
  /** `select 1` from four clients, over the simple query protocol. */
  select: { clients: 4, script: 'select 1;' },
  /** One durable insert for each transaction. */
  insert: {
    clients: 32,
    script: "insert into bench_rows values (md5(random()::text || clock_timestamp()::text), repeat('x', 64), 1);",
  },
} as const;

export type Baseline = keyof typeof BASELINES;

export const BENCH_TABLE = 'create table bench_rows (id text primary key, value text, created_at bigint)';

/**
 * Runs one of the baseline scripts.
 *
 * @param directory where the script may be written
 * @returns transactions per second
 */
export async function pgbench(
  baseline: Baseline,
  where: { socket: string; database: string; directory: string },
  seconds: number,
): Promise<number> {
  const { clients, script } = BASELINES[baseline];
  const file = join(where.directory, `${baseline}.sql`);
  writeFileSync(file, `${script}\n`);
  const counts = ['-c', String(clients), '-j', '1', '-T', String(Math.max(1, Math.round(seconds)))];
  const address = ['-h', where.socket, '-U', 'postgres', where.database];
  const { stdout } = await promisify(execFile)(postgresProgram('pgbench'), [
    ...['-n', '-M', 'simple', '-f', file, ...counts],
    ...address,
  ]);
  const [, tps] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
  if (tps === undefined) throw new Error(`pgbench printed no rate:\n${stdout}`);
  return Number(tps);
}
