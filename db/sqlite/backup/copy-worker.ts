import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { Manifest } from '../../database-files.ts';
import { StorageError } from '../../errors.ts';
import { translateError } from '../errors.ts';
import type { CopyJob, CopyMessage } from './copy.ts';
import { readFacts, writeManifest } from './manifest.ts';
import { checkContent, verifyBackup } from './verify.ts';

/** The thread of one backup: it copies the database, describes and verifies the copy, posts the manifest and ends. */
const { source, copy, madeAt, program } = workerData as CopyJob;
/** The error codes of failed writes. The source is only read, so these errors concern the copy. */
const WRITE_FAULT = /^SQLITE_(FULL|READONLY|IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE))/;
const send = (message: CopyMessage) => parentPort?.postMessage(message);

/** Copies in a single read transaction, even if that takes long. Concurrent writes neither disturb nor restart it. */
function copyDatabase(): void {
  const client = new Database(source, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    send({ total: (client.pragma('page_count', { simple: true }) as number) * pageSizeOf(client) });
    client.prepare('vacuum into ?').run(copy);
  } finally {
    client.close();
  }
}

function pageSizeOf(client: InstanceType<typeof Database>): number {
  return client.pragma('page_size', { simple: true }) as number;
}

async function describe(): Promise<void> {
  const client = new Database(copy, { fileMustExist: true });
  try {
    const { audit } = await checkContent(client);
    writeManifest(client, { format: 1, madeAt, program, ...readFacts(client), audit } satisfies Manifest);
  } finally {
    client.close();
  }
}

try {
  copyDatabase();
  send({ phase: 'verifying' });
  await describe();
  send({ manifest: await verifyBackup(copy) });
} catch (error) {
  const translated = translateError(error);
  if (!(translated instanceof StorageError)) throw translated;
  const { code, message, cause } = translated;
  const what = WRITE_FAULT.test(code) ? `the backup could not be written to ${dirname(copy)}` : message;
  send({ failure: { code, message: cause instanceof Error ? `${what} (${cause.message})` : what } });
}
