import type { Jobs } from '../../core/capabilities/jobs.ts';
import { ApiError, requireFound } from '../../core/errors.ts';
import { presentJob } from '../../core/present/job.ts';
import type { JobRow } from '../../db/store.ts';
import type { Handler } from '../../http/contract.ts';

export const retryJob: Handler<'retryJob', Jobs> = (call, reply, { jobs, events }) =>
  call.commit(async (tx) => {
    const failed = requireFound(await tx.jobs.get(call.environment.id, call.path.job_id), 'The job');
    const job = await jobs.retry(tx, failed);
    if (!job) throw new ApiError('JOB_NOT_RETRYABLE', whyNot(failed));
    await events.emit(tx, call.cause, {
      type: 'job.retried',
      subject: job.id,
      data: (show) => ({ job: show.job(job) }),
    });
    return reply(200, { job: presentJob(job) });
  });

function whyNot({ state, payloadSealed }: JobRow): string {
  if (state !== 'FAILED') return 'The job has not failed. Only failed jobs can be retried.';
  if (payloadSealed === null) return 'The data of the job was deleted or never existed.';
  return 'This version of the server does not support jobs of this kind.';
}
