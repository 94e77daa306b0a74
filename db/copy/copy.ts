import { hash } from 'node:crypto';
import { StorageError } from '../errors.ts';
import type { CopyEnd, CopySource, CopyTarget, StoredRow } from './port.ts';
import { COPIED_TABLES } from './tables.ts';

export interface CopyDeps {
  /** Milliseconds UTC. */
  now(): number;
  /**
   * Called after each batch that was copied, and later after each batch of the copy that was verified: `rows` of the
   * `total` rows of the table are done.
   */
  progress?(phase: 'copied' | 'verified', table: string, rows: number, total: number): void;
  /** Checks that the configured keys can decrypt a database. @throws if they cannot */
  checkKeys(end: CopyEnd): Promise<void>;
}

/** The numbers of copied rows by table, and of audit records by environment. */
export interface CopyReport {
  counts: Record<string, number>;
  audit: Record<string, number>;
}

/**
 * Copies all rows of a database to an empty one and verifies the copy: the rows of each table, the chains of audit
 * records, and the keys. Then the source is retired, and the copy becomes usable. After an error other than
 * `OUTCOME_UNKNOWN`, the source is unchanged, and `target.close` removes what was copied.
 *
 * @throws StorageError `COPY_REFUSED` if the schemas differ, or the source has tables that this version does not
 * support; `COPY_DAMAGED` if the verification of the copy fails; `OUTCOME_UNKNOWN` if the copy may have become usable,
 * and then the source stays retired; what `checkKeys` throws
 */
export async function copyDatabase(source: CopySource, target: CopyTarget, deps: CopyDeps): Promise<CopyReport> {
  const { now, progress = () => {}, checkKeys } = deps;
  await requireSameSchema(source, target);
  await checkKeys(source);
  const copied = new Map<string, Fingerprint>();
  for (const table of COPIED_TABLES) {
    const columns = await commonColumns(table, source, target);
    const total = await source.count(table);
    const fingerprint = createFingerprint();
    for await (const rows of source.rows(table, columns)) {
      await target.insert(table, columns, rows);
      fingerprint.add(rows);
      progress('copied', table, fingerprint.rows(), total);
    }
    copied.set(table, fingerprint);
  }
  await target.complete(await source.lastNumbers());
  for (const [table, expected] of copied) {
    const found = createFingerprint();
    for await (const rows of target.rows(table, await target.columns(table))) {
      found.add(rows);
      progress('verified', table, found.rows(), expected.rows());
    }
    if (found.value() !== expected.value()) throw damaged(`the table ${table} differs from the source`);
  }
  const audit = await verifyAudit(target);
  await checkKeys(target);
  await source.retire(now());
  await target.finish().catch(async (error) => {
    if (!(error instanceof StorageError && error.code === 'OUTCOME_UNKNOWN')) await source.reopen();
    throw error;
  });
  return { counts: Object.fromEntries([...copied].map(([table, found]) => [table, found.rows()])), audit };
}

async function requireSameSchema(source: CopySource, target: CopyTarget): Promise<void> {
  const [from, to] = await Promise.all([source.migrations(), target.migrations()]);
  if (from.join() !== to.join()) {
    const newest = (names: string[]) => names.at(-1) ?? 'empty';
    throw refused(
      `the schema of the source is ${newest(from)}, that of the target ${newest(to)}: bring both to the same version first (\`valetkey db migrate\` on the server; a server migrates a file when it starts)`,
    );
  }
  const unknown = await source.unknownTables();
  if (unknown.length > 0)
    throw refused(`the source has tables that this version does not support: ${unknown.join(', ')}`);
}

async function commonColumns(table: string, source: CopySource, target: CopyTarget): Promise<string[]> {
  const [from, to] = await Promise.all([source.columns(table), target.columns(table)]);
  if (from.join() !== to.join()) throw refused(`the columns of the table ${table} differ in the source and the target`);
  return from;
}

/** @returns the number of audit records by environment */
async function verifyAudit({ read }: CopyEnd): Promise<Record<string, number>> {
  const lengths: Record<string, number> = {};
  for (const { id } of await read.environments.list()) {
    const verdict = await read.audit.verifyChain(id);
    if (!verdict.intact) throw damaged(`the audit log of ${id} is broken at seq ${verdict.brokenAt}`);
    lengths[id] = verdict.rows;
  }
  return lengths;
}

/** The number of rows of a table, and a digest of them that does not depend on their order. */
interface Fingerprint {
  add(rows: readonly StoredRow[]): void;
  rows(): number;
  value(): string;
}

function createFingerprint(): Fingerprint {
  const sum = Buffer.alloc(32);
  let count = 0;
  return {
    add(rows) {
      count += rows.length;
      for (const row of rows) {
        const digest = hash('sha256', JSON.stringify(row.map(asText)), 'buffer');
        for (let place = 0; place < sum.length; place++)
          sum[place] = (sum[place] as number) ^ (digest[place] as number);
      }
    },
    rows: () => count,
    value: () => `${count} ${sum.toString('hex')}`,
  };
}

/** Returns a value in the form that is hashed. U+0000 is replaced, because not every engine can store it in a text. */
function asText(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('base64')}`;
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}

function refused(reason: string): StorageError {
  return new StorageError('COPY_REFUSED', `the database cannot be copied: ${reason}`);
}

function damaged(reason: string): StorageError {
  return new StorageError('COPY_DAMAGED', `the copy was aborted: ${reason}`);
}
