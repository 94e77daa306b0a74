import type { JobRow } from '../../db/store.ts';
import { inSpan } from '../spans.ts';
import type { Vault } from '../vault/vault.ts';
import type { Attempted, JobKind } from './job-kind.ts';
import { openPayload } from './payload.ts';

export interface AttemptDeps {
  vault: Vault;
  log: { error(fields: object, message: string): void };
}

export const SERVER_FAILED = 'The server failed before the attempt was complete.';

/**
 * Makes one attempt of a job. It never rejects: if the job kind throws an error or takes longer than its `attemptMs`,
 * the outcome is a retry.
 *
 * @param stopping is aborted when the server stops
 */
export async function attempt(
  { vault, log }: AttemptDeps,
  kind: JobKind,
  row: JobRow,
  stopping: AbortSignal,
): Promise<Attempted> {
  const late = new AbortController();
  const { promise: timeOver, resolve } = Promise.withResolvers<Attempted>();
  const timer = setTimeout(() => {
    late.abort();
    resolve({ kind: 'retry', reason: `The attempt did not end within ${kind.attemptMs / 1000} seconds.` });
  }, kind.attemptMs).unref();
  try {
    const job = { ...jobOf(row), payload: kind.hasNoPayload ? {} : openPayload(vault, row) };
    const signal = AbortSignal.any([stopping, late.signal]);
    return await inSpan(
      () => ({ name: `job ${kind.name}`, kind: 'internal', attributes: { 'valetkey.job.id': row.id } }),
      async (span) => {
        const outcome = await Promise.race([kind.run(job, signal), timeOver]);
        if (outcome.kind !== 'done') span.failure = outcome.kind;
        return outcome;
      },
    );
  } catch (err) {
    log.error({ job: row.id, kind: row.kind, err }, 'an attempt of a job failed unexpectedly');
    return { kind: 'retry', reason: SERVER_FAILED };
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the part of a job that its kind may read. */
export function jobOf({ id, environmentId, kind, lane, subjectId, attempts, createdAt }: JobRow) {
  return { id, environmentId, kind, lane, subjectId, attempts, createdAt };
}
