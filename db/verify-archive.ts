import { auditHash, GENESIS } from './audit-chain.ts';
import { auditFiles, chainDirectory, numberOf, rangeOf, readAuditFile } from './audit-file.ts';
import type { AuditChain } from './audit-heads.ts';
import type { EnvironmentId } from './environment-id.ts';
import { StorageError } from './errors.ts';
import type { AuditHead, AuditRow } from './rows/audit.ts';

/** `problem`: a sentence for the operator. */
export type ArchiveVerdict = { intact: true; files: number; records: number } | { intact: false; problem: string };

/**
 * Recomputes a chain of archived audit records, from its first record to the last one that was removed from the
 * database.
 *
 * @param directory the directory with the archive of the environment
 * @param chain `removed` is the last record that was removed from the database
 */
export async function verifyArchive(
  directory: string,
  environmentId: EnvironmentId,
  chain: Pick<AuditChain, 'start'> & { removed: AuditHead },
): Promise<ArchiveVerdict> {
  try {
    return await walk(chainDirectory(directory, chain), environmentId, chain);
  } catch (error) {
    if (error instanceof StorageError) return { intact: false, problem: error.message };
    throw error;
  }
}

/** A record of a chain, by its number and hash. */
type Link = Pick<AuditRow, 'hash'> & { number: number };

/** The verified part of a chain: its last record, and the hash of each file's last record by the record's number. */
interface Verified {
  end: Link;
  lastOfFiles: Map<number, Buffer | undefined>;
}

async function walk(
  directory: string,
  environmentId: EnvironmentId,
  { start, removed }: Pick<AuditChain, 'start'> & { removed: AuditHead },
): Promise<ArchiveVerdict> {
  const wanted = numberOf(removed, { start });
  let isConnected = wanted === 0;
  const files = await auditFiles(directory);
  const lastOfFiles = new Map<number, Buffer | undefined>(files.map((path) => [rangeOf(path).last, undefined]));
  const verified: Verified = { end: { hash: GENESIS, number: 0 }, lastOfFiles };
  for (const path of files) {
    let before: Link | undefined;
    for await (const row of readAuditFile(path)) {
      const number = numberOf(row, { start });
      const expected =
        before === undefined ? Math.min(rangeOf(path).first, verified.end.number + 1) : before.number + 1;
      if (number > expected) return missing(directory, expected, number - 1);
      if (number < expected || row.environmentId !== environmentId || !follows(row, before, verified.end, number)) {
        return broken(`record ${number} in ${path} was changed, or does not follow the record before it`);
      }
      before = { hash: row.hash, number };
      if (number <= verified.end.number) continue;
      verified.end = before;
      if (lastOfFiles.has(number)) lastOfFiles.set(number, row.hash);
      if (number === wanted) isConnected = row.seq === removed.seq && row.hash.equals(removed.hash);
    }
    if (!isComplete(path, before, verified))
      return broken(`${path} does not contain the records that its file name states`);
  }
  const { end } = verified;
  if (end.number < wanted) return missing(directory, end.number + 1, wanted);
  if (isConnected) return { intact: true, files: files.length, records: end.number };
  return broken(`the audit log in the database does not continue record ${wanted} of the archive`);
}

function follows(row: AuditRow, before: Link | undefined, end: Link, number: number): boolean {
  if (!auditHash(row).equals(row.hash)) return false;
  if (before !== undefined && !row.prevHash.equals(before.hash)) return false;
  return number !== end.number + 1 || row.prevHash.equals(end.hash);
}

/**
 * Whether a file ends with the record that its name states, and contains only verified records. After an interruption
 * two files may contain the same records. Each file is a chain, so it contains the verified records if its last record
 * is verified.
 */
function isComplete(path: string, last: Link | undefined, { lastOfFiles }: Verified): boolean {
  return last?.number === rangeOf(path).last && lastOfFiles.get(last.number)?.equals(last.hash) === true;
}

function broken(problem: string): ArchiveVerdict {
  return { intact: false, problem };
}

function missing(directory: string, from: number, to: number): ArchiveVerdict {
  return broken(`records ${from} to ${to} are not in ${directory}`);
}
