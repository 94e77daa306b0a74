import { openSession } from './session.ts';

const LOCK = "select pg_advisory_xact_lock(hashtext('valetkey init'))";

/**
 * Runs `work` with a lock that only one process at a time can have. The lock ends with the connection, so a killed
 * process does not keep it.
 *
 * @param location `postgres://…`
 * @throws StorageError if the server cannot be reached; the error of the work
 */
export async function withSetupLock<T>(location: string, work: () => Promise<T>): Promise<T> {
  const session = await openSession(location, { statementMs: null });
  try {
    await session.query({ text: `begin; ${LOCK}` });
    return await work();
  } finally {
    await session.close().catch(() => {});
  }
}
