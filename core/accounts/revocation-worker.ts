import type { OutboxRow, Store, Transaction } from '../../db/store.ts';
import { BACKGROUND } from '../budgets.ts';
import type { Events } from '../events/events.ts';
import type { RevocationOutcome } from '../oauth/revocation.ts';
import type { Vault } from '../vault/vault.ts';
import { type Clock, fraction } from './freshness.ts';
import { RefreshSlots } from './refresh-slots.ts';
import { type AttemptTools, attemptRevocation } from './revocation-attempt.ts';
import { openRevocationOrder, REVOKE } from './revocation-order.ts';
import { mayBeShared } from './shared-grant.ts';

export interface RevocationWorkerTools extends AttemptTools, Clock {
  store: Store;
  vault: Vault;
  events: Events;
  /** Removes what was wiped from the database file soon. */
  scrubStorage(): void;
  /** No line carries a token, an address or an identifier. */
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

export interface RevocationWorker {
  /** Begins with all that is due; resolves when that much has ended, or waits for another attempt. */
  run(): Promise<void>;
  /** Ends the requests under way, to be made again by the next process, and begins no more. */
  stop(): Promise<void>;
}

/** Revocations at once, in all and at one provider of an environment. They wait for as long as it takes: nobody waits for them. */
const UNBOUNDED = Number.POSITIVE_INFINITY;
const SLOTS = { total: 16, first: 4, most: 4, waiting: UNBOUNDED, waitMs: UNBOUNDED };
/** How many are looked at in one turn. */
const BATCH = 200;
/** Longer than an attempt takes, with two tokens and metadata of 15 s each: after it, whoever had an entry is taken for dead. */
const CLAIM_MS = 90_000;
const { revocationRestMs: FIRST_REST_MS, revocationLongestRestMs: LONGEST_REST_MS } = BACKGROUND;

const KEPT_ALIVE =
  'Another connected account of the same user is in use at the provider; revoking the tokens could end its access as well.';
const NO_WAY = 'The provider does not support token revocation.';
const OURS = 'The server failed before it could call the provider.';
const GIVEN_UP = 'Abandoned after three days.';

/**
 * Works off the revocations that were ordered: each is tried until the provider has given an answer that counts, at most for as
 * long as its order says. However it ends, its tokens are wiped with the end.
 */
export function createRevocationWorker(tools: RevocationWorkerTools): RevocationWorker {
  const { store, now, log } = tools;
  const slots = new RefreshSlots(SLOTS);
  const underWay = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const { signal } = stopping;

  async function begin(): Promise<void> {
    for (const { id: environmentId } of await store.read.environments.list()) {
      // Those that wait for their turn are still due: they must not hide the others.
      const due = await store.read.outbox.due(environmentId, REVOKE, now(), BATCH + underWay.size);
      for (const entry of due) {
        if (signal.aborted || underWay.has(entry.id)) continue;
        const work = slots.run(`${environmentId} ${entry.provider ?? ''}`, () => workOn(entry));
        const quiet = work.catch((err: unknown) => log.error({ err }, 'a revocation was interrupted'));
        underWay.set(
          entry.id,
          quiet.finally(() => underWay.delete(entry.id)),
        );
      }
    }
  }

  async function workOn({ environmentId, id, nextAt }: OutboxRow): Promise<void> {
    if (signal.aborted) return;
    const entry = await store.write((tx) => tx.outbox.claim(environmentId, id, nextAt, now() + CLAIM_MS));
    if (entry) await settle(tools, entry, await attempt(tools, entry, signal), signal.aborted);
  }

  return {
    async run() {
      await begin();
      await Promise.all(underWay.values());
    },
    async stop() {
      stopping.abort();
      await Promise.all(underWay.values());
    },
  };
}

type Attempted = RevocationOutcome & { message?: string };

async function attempt(tools: RevocationWorkerTools, entry: OutboxRow, signal: AbortSignal): Promise<Attempted> {
  const { store, vault, log } = tools;
  const { environmentId, subjectId } = entry;
  try {
    const order = openRevocationOrder(vault, entry);
    const { connection_id: connectionId, subject, own = false } = order;
    // Asked before each attempt: a person may have connected an account again since the order was given.
    const account = subjectId === null ? undefined : await store.read.accounts.get(environmentId, subjectId);
    if (!own && (await mayBeShared(store.read, { environmentId, connectionId }, account, subject))) {
      return { kind: 'not_revocable', message: KEPT_ALIVE };
    }
    return await attemptRevocation(tools, environmentId, order, signal);
  } catch (err) {
    // A key that is missing, a mistake of ours: the order is kept for as long as it may still be of use.
    log.error({ account_id: subjectId, revocation_id: entry.id, err }, 'a revocation could not be tried');
    return { kind: 'retry_later', message: OURS };
  }
}

/**
 * Writes down what became of an attempt.
 *
 * @param stopped the attempt was cut short: the next process is to make it again at once
 */
async function settle(
  tools: RevocationWorkerTools,
  entry: OutboxRow,
  outcome: Attempted,
  stopped: boolean,
): Promise<void> {
  const at = tools.now();
  if (outcome.kind !== 'retry_later') return end(tools, entry, outcome.kind, outcome.message, at);
  const { message, retryAfterMs } = outcome;
  if (!stopped && at >= entry.giveUpAt) return end(tools, entry, 'failed', `${GIVEN_UP} ${message}`, at);
  const nextAt = stopped ? at : nextTry(tools, entry, retryAfterMs, at);
  await tools.store.write((tx) => tx.outbox.retry(entry.environmentId, entry.id, { nextAt, error: message, at }));
}

const EVENTS = {
  revoked: 'revocation.succeeded',
  not_revocable: 'revocation.skipped',
  failed: 'revocation.failed',
} as const;

/** Ends an order, with its event. An end that somebody else has written stands. */
async function end(
  { store, events, log, scrubStorage }: RevocationWorkerTools,
  { environmentId, id, subjectId, provider }: OutboxRow,
  as: Exclude<RevocationOutcome['kind'], 'retry_later'>,
  reason = NO_WAY,
  at: number,
): Promise<void> {
  const cause = { environmentId, actor: 'system', requestId: '' };
  const accountId = subjectId ?? '';
  await store.write(async (tx) => {
    const ended = await write(tx);
    if (!ended) return;
    await events.emit(tx, cause, {
      type: EVENTS[as],
      subject: accountId,
      auditOnly: { revocation: id, ...(as !== 'revoked' && { reason }) },
      data: async (show) => ({ revocation: await show.revocation(accountId, id) }),
    });
  });

  function write(tx: Transaction): Promise<boolean> {
    if (as === 'failed') return tx.outbox.fail(environmentId, id, reason, at);
    if (as === 'revoked') return tx.outbox.done(environmentId, id, { at, result: 'REVOKED' });
    return tx.outbox.done(environmentId, id, { at, result: 'NOT_REVOCABLE', error: reason });
  }
  scrubStorage();
  if (as === 'failed')
    log.warn({ account_id: accountId, provider, reason }, 'tokens were not revoked at their provider');
}

/** What a provider asks for is kept, up to the moment of the last attempt. */
function nextTry({ random }: Clock, { attempts, giveUpAt }: OutboxRow, retryAfterMs = 0, at: number): number {
  const backoff = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(attempts, 16));
  const jittered = backoff * (1 - fraction(random) / 2);
  return Math.min(giveUpAt, Math.ceil(at + Math.max(jittered, retryAfterMs)));
}
