import type { Store } from '../../db/store.ts';
import { BACKGROUND, LIFETIME } from '../budgets.ts';
import type { Events } from '../events/events.ts';
import type { AttemptOutcome, Job, JobKind, JobOutcome } from '../jobs/job-kind.ts';
import type { RevocationOutcome } from '../oauth/revocation.ts';
import { type AttemptDeps, attemptRevocation } from './revocation-attempt.ts';
import { emitRevocation, type RevocationEventType } from './revocation-event.ts';
import { REVOCATION, type RevocationOrder } from './revocation-order.ts';
import { NOT_REVOCABLE, REVOKED } from './revocation-result.ts';
import { mayBeShared } from './shared-grant.ts';

export interface RevocationJobDeps extends AttemptDeps {
  store: Pick<Store, 'read'>;
  events: Events;
  /** No log line contains a token, an address or the identifier of a user. */
  log: { warn(fields: object, message: string): void };
}

const TOKENS_SHARED =
  'Another connected account of the same user is in use at the provider; revoking the tokens could end its access as well.';
const NO_WAY = 'The provider does not support token revocation.';

/**
 * Revokes tokens that were removed from accounts. Failures that may be temporary are retried for three days; a request
 * that the provider rejects is not repeated. Revoking a token twice is harmless (RFC 7009 §2.2).
 */
export function revocationJob(deps: RevocationJobDeps): JobKind {
  const { events, log } = deps;
  return {
    name: REVOCATION,
    perLane: BACKGROUND.revocationsPerProvider,
    attemptMs: BACKGROUND.revocationMs,
    firstDelayMs: BACKGROUND.revocationDelayMs,
    longestDelayMs: BACKGROUND.revocationLongestDelayMs,
    giveUpAfterMs: LIFETIME.revocationAttemptsMs,
    givenUp: 'Abandoned after three days.',
    run: (job, signal) => revoke(deps, job, signal),
    async ended(tx, { environmentId, subjectId, lane, id }, outcome) {
      const type = eventOf(outcome);
      const { reason } = outcome;
      const accountId = subjectId ?? '';
      await emitRevocation(tx, events, type, { environmentId, id, accountId, reason });
      if (type !== 'revocation.failed') return;
      const fields = { account_id: accountId, provider: lane, reason };
      tx.afterCommit(() => log.warn(fields, 'tokens were not revoked at their provider, so they may still be valid'));
    },
  };
}

function eventOf(outcome: JobOutcome): RevocationEventType {
  if (outcome.kind === 'failed') return 'revocation.failed';
  return outcome.result === REVOKED ? 'revocation.succeeded' : 'revocation.skipped';
}

async function revoke(deps: RevocationJobDeps, job: Job, signal: AbortSignal): Promise<AttemptOutcome> {
  const { read } = deps.store;
  const { environmentId, subjectId } = job;
  const order = job.payload as RevocationOrder;
  const { connection_id: connectionId, subject, own = false } = order;
  // Checked before each attempt, because a user may have connected an account again since the job was created.
  const account = subjectId === null ? undefined : await read.accounts.get(environmentId, subjectId);
  if (!own && (await mayBeShared(read, { environmentId, connectionId }, account, subject))) {
    return { kind: 'done', result: NOT_REVOCABLE, reason: TOKENS_SHARED };
  }
  return outcomeOf(await attemptRevocation(deps, environmentId, order, signal));
}

function outcomeOf(outcome: RevocationOutcome): AttemptOutcome {
  if (outcome.kind === 'revoked') return { kind: 'done', result: REVOKED };
  if (outcome.kind === 'not_revocable') return { kind: 'done', result: NOT_REVOCABLE, reason: NO_WAY };
  if (outcome.kind === 'failed') return { kind: 'failed', reason: outcome.message };
  const { message: reason, retryAfterMs } = outcome;
  return { kind: 'retry', reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
