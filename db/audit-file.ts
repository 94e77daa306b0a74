import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { asciiJson } from '../core/text/ascii-json.ts';
import type { AuditChain } from './audit-heads.ts';
import { makeDirectory } from './directory.ts';
import { environmentId } from './environment-id.ts';
import { StorageError } from './errors.ts';
import type { AuditRow } from './rows/audit.ts';

/** A file of the archive that is being written. It gets its final name when it is complete. */
export interface AuditFile {
  append(rows: readonly AuditRow[]): Promise<void>;
  /**
   * Syncs the file and gives it its final name.
   *
   * @throws StorageError `ARCHIVE_DIFFERS` if a file of this name contains other records; that file is not changed
   */
  finish(): Promise<void>;
  /** Removes an incomplete file. */
  discard(): Promise<void>;
}

const NAME = /^\d{12}-\d{12}\.jsonl$/;

/** The number of a record in its chain: 1 is the first. */
export function numberOf({ seq }: Pick<AuditRow, 'seq'>, { start }: Pick<AuditChain, 'start'>): number {
  return seq - start;
}

/**
 * Returns the directory with the files of a chain. The first chain of an environment uses the environment's directory.
 */
export function chainDirectory(directory: string, { start }: Pick<AuditChain, 'start'>): string {
  // In a `seq`, the number of the chain is in the bits between those of the environment and those of the record.
  const chain = (start % 2 ** 40) / 2 ** 30;
  return chain === 0 ? directory : join(directory, `chain-${chain}`);
}

/** Creates a file of consecutive records of a chain. Only the system user of this process can read it. */
export async function createAuditFile(
  environmentDirectory: string,
  chain: Pick<AuditChain, 'start'>,
): Promise<AuditFile> {
  const directory = chainDirectory(environmentDirectory, chain);
  const digits = (row: AuditRow) => String(numberOf(row, chain)).padStart(12, '0');
  if (!existsSync(directory)) makeDirectory(directory);
  // Only one process archives at a time, so the draft of an interrupted attempt can be overwritten.
  const draft = join(directory, 'incomplete');
  const file = await open(draft, 'w', 0o600);
  let first: AuditRow | undefined;
  let last: AuditRow | undefined;
  return {
    async append(rows) {
      await file.appendFile(rows.map(toLine).join(''));
      first ??= rows[0];
      last = rows.at(-1) ?? last;
    },
    async finish() {
      if (!first || !last) throw new Error('an audit file needs a record');
      await file.sync();
      await file.close();
      const path = join(directory, `${digits(first)}-${digits(last)}.jsonl`);
      await requireSame(path, last);
      await rename(draft, path);
      // The directories of the environment and of the archive may be new as well.
      for (const each of [directory, dirname(directory), dirname(dirname(directory))]) await syncEntries(each);
    },
    async discard() {
      await file.close().catch(() => {});
      await rm(draft, { force: true });
    },
  };
}

/** Returns the paths of the archive files in the directory of a chain, in the order of their records. */
export async function auditFiles(directory: string): Promise<string[]> {
  if (!existsSync(directory)) return [];
  const names = (await readdir(directory)).filter((name) => NAME.test(name));
  return names.sort().map((name) => join(directory, name));
}

/** Returns the numbers of the first and the last record of a file, from its name. */
export function rangeOf(path: string): { first: number; last: number } {
  const [first, last] = basename(path, '.jsonl').split('-').map(Number) as [number, number];
  return { first, last };
}

/**
 * Reads a file of the archive. A line is accepted only if it is exactly as `append` writes it. Otherwise a repeated or
 * additional member, which the hash does not cover, could mislead a reader of the file.
 *
 * @throws StorageError `ARCHIVE_DAMAGED` naming the line
 */
export async function* readAuditFile(path: string): AsyncGenerator<AuditRow> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    yield recordIn(text, `line ${line} of ${path}`);
  }
}

function recordIn(text: string, place: string): AuditRow {
  try {
    const row = fromLine(text);
    if (toLine(row) === `${text}\n`) return row;
  } catch (cause) {
    throw new StorageError('ARCHIVE_DAMAGED', `${place} is not an audit record`, { cause });
  }
  throw new StorageError('ARCHIVE_DAMAGED', `${place} is not in the format in which audit records are written`);
}

/** Makes the entries of a directory durable, without blocking the event loop. */
async function syncEntries(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Checks that an existing file contains the same records as the new file, whose last record is `last`. Each record
 * contains the hash of the previous one, so files with the same last hash are equal. A file that does not exist passes.
 *
 * @throws StorageError `ARCHIVE_DIFFERS`
 */
async function requireSame(path: string, last: AuditRow): Promise<void> {
  if (!existsSync(path)) return;
  let found: AuditRow | undefined;
  for await (const row of readAuditFile(path)) found = row;
  if (found?.hash.equals(last.hash)) return;
  throw new StorageError(
    'ARCHIVE_DIFFERS',
    `${path} has other records than the database: move it to another directory`,
  );
}

/** Returns a record as a line of ASCII text, because some readers of lines treat other characters as line ends. */
function toLine({ seq, id, environmentId, at, actor, action, subjectId, requestId, ...row }: AuditRow): string {
  const { details, prevHash, hash } = row;
  const time = new Date(at).toISOString();
  const chain = { prev_hash: prevHash.toString('hex'), hash: hash.toString('hex') };
  const what = { actor, action, subject_id: subjectId, request_id: requestId, details };
  return `${asciiJson(JSON.stringify({ seq, id, environment_id: environmentId, at: time, ...what, ...chain }))}\n`;
}

function fromLine(text: string): AuditRow {
  const line = JSON.parse(text);
  const at = Date.parse(line.at);
  if (!Number.isSafeInteger(line.seq) || Number.isNaN(at)) throw new Error('no place or no time');
  return {
    seq: line.seq,
    id: line.id,
    environmentId: environmentId(line.environment_id),
    at,
    actor: line.actor,
    action: line.action,
    subjectId: line.subject_id,
    requestId: line.request_id,
    details: line.details,
    prevHash: Buffer.from(line.prev_hash, 'hex'),
    hash: Buffer.from(line.hash, 'hex'),
  };
}
