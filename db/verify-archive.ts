import type { AuditRow } from './audit.ts';
import { auditHash, GENESIS } from './audit-chain.ts';
import { auditFiles, numberOf, readAuditFile } from './audit-file.ts';
import type { AuditHead } from './audit-heads.ts';
import type { EnvironmentId } from './environment-id.ts';
import { StorageError } from './errors.ts';

/** `problem`: a sentence for the operator. */
export type ArchiveVerdict = { intact: true; files: number; records: number } | { intact: false; problem: string };

/**
 * Recomputes the chain of archived audit records, from the first record of the environment to the last one that was removed from the
 * database.
 *
 * @param directory of the environment
 * @param removed what the first record of the database follows
 */
export async function verifyArchive(
  directory: string,
  environmentId: EnvironmentId,
  removed: AuditHead,
): Promise<ArchiveVerdict> {
  try {
    return await walk(directory, environmentId, removed);
  } catch (error) {
    if (error instanceof StorageError) return { intact: false, problem: error.message };
    throw error;
  }
}

async function walk(directory: string, environmentId: EnvironmentId, removed: AuditHead): Promise<ArchiveVerdict> {
  let end: Pick<AuditRow, 'hash'> & { number: number } = { hash: GENESIS, number: 0 };
  const wanted = numberOf(removed);
  let isConnected = wanted === 0;
  const files = await auditFiles(directory);
  for (const path of files) {
    for await (const row of readAuditFile(path)) {
      const number = numberOf(row);
      // After an interruption two files may hold the same records.
      if (number < end.number || (number === end.number && row.hash.equals(end.hash))) continue;
      if (number > end.number + 1) return missing(directory, end.number + 1, number - 1);
      const follows = row.environmentId === environmentId && row.prevHash.equals(end.hash);
      if (!follows || !auditHash(row).equals(row.hash)) {
        return {
          intact: false,
          problem: `record ${number} in ${path} was changed, or does not follow the record before it`,
        };
      }
      if (number === wanted) isConnected = row.seq === removed.seq && row.hash.equals(removed.hash);
      end = { hash: row.hash, number };
    }
  }
  if (end.number < wanted) return missing(directory, end.number + 1, wanted);
  if (isConnected) return { intact: true, files: files.length, records: end.number };
  return { intact: false, problem: `the database does not follow record ${wanted} of the archive` };
}

function missing(directory: string, from: number, to: number): ArchiveVerdict {
  return { intact: false, problem: `records ${from} to ${to} are not in ${directory}` };
}
