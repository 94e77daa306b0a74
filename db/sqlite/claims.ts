import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Claim } from './mark-file.ts';
import type { Client } from './open.ts';

/**
 * The total number of rows that were ever written, by table. From bit 40 on, a `seq` contains the ordinal of its
 * environment.
 */
const TOTALS = `
  select name, sum(last_seq & ${2 ** 40 - 1}) as total from counters group by name
  union all select 'audit records', sum(seq & ${2 ** 40 - 1}) from audit_heads`;

/**
 * The position of the salts in the header of the log (SQLite's "WAL File Format"). SQLite chooses new salts each time
 * it starts the log from its beginning.
 */
const SALTS_AT = 16;
const SALTS_BYTES = 8;

const NOTHING: Claim = { salts: '', frames: 0, totals: {} };

/**
 * Measures the content of a database: the length of its readable log, and how many rows were ever written.
 *
 * @returns undefined if another process restarted the log during the measurement
 */
export function createMeasure(client: Client): () => Claim | undefined {
  const size = client.prepare('pragma wal_checkpoint(noop)').raw();
  const totals = client.prepare(TOTALS);
  return () => {
    const salts = readSalts(client.name);
    const [, frames] = size.get() as [busy: number, frames: number, moved: number];
    if (readSalts(client.name) !== salts) return undefined;
    const rows = totals.all() as { name: string; total: number | null }[];
    return { salts, frames, totals: Object.fromEntries(rows.map(({ name, total }) => [name, total ?? 0])) };
  };
}

/**
 * Measures a database file with a read-only connection, so that a damaged log is not changed.
 *
 * @throws SqliteError if the file cannot be read
 */
export function measureFile(database: string): Claim | undefined {
  if (!existsSync(database)) return NOTHING;
  const client = new Database(database, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    const isEmpty = client.prepare("select 1 from sqlite_schema where name = 'counters'").get() === undefined;
    return isEmpty ? NOTHING : createMeasure(client)();
  } finally {
    client.close();
  }
}

/**
 * Returns what was recorded as durable and is missing, for the operator: `98 accounts`. A log without frames was
 * started again, and may still have its old header. Then only the totals are compared.
 */
export function missingOf(claims: Claim[], found: Claim): string[] {
  const isSameLog = ({ salts }: Claim) => salts !== '' && salts === found.salts && found.frames > 0;
  const ofLog = claims.filter(isSameLog).map(({ frames }) => frames);
  const names = [...new Set(claims.flatMap(({ totals }) => Object.keys(totals)))];
  const claimed: [string, number, number][] = [
    ...names.map((name): [string, number, number] => [
      name,
      Math.max(...claims.map(({ totals }) => totals[name] ?? 0)),
      found.totals[name] ?? 0,
    ]),
    ['pages of the log', Math.max(0, ...ofLog), found.frames],
  ];
  return claimed.flatMap(([name, marked, there]) => (marked > there ? [`${marked - there} ${name}`] : []));
}

/** Returns an empty text if there is no log. */
function readSalts(database: string): string {
  const log = `${database}-wal`;
  if (!existsSync(log)) return '';
  const fd = openSync(log, 'r');
  try {
    const salts = Buffer.alloc(SALTS_BYTES);
    return readSync(fd, salts, 0, SALTS_BYTES, SALTS_AT) === SALTS_BYTES ? salts.toString('hex') : '';
  } finally {
    closeSync(fd);
  }
}
