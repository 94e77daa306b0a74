import { LIFETIME, STORED } from '../../core/budgets.ts';
import { type ExecutionEnd, type StoreEndDeps, storeEnd } from '../../core/executions/execution-end.ts';
import type { Instance } from '../../core/instances/instance.ts';
import type {
  IdempotencyKeyName,
  IdempotencyReply,
  NewIdempotencyKey,
  Repositories,
  Store,
  Transaction,
} from '../../db/store.ts';
import type { EffectReply, Reply, StoredReplies } from '../contract.ts';
import type { Exchange } from './exchange.ts';
import { keyBinding, type ReplayDeps, replay } from './replay.ts';
import { isFull, type ReplyReservation, type ReplySpace, tooManyKeys } from './reply-space.ts';
import type { ContractRequest } from './request.ts';
import { packReply, packReplyInThread, sealReply } from './stored-replies.ts';

export interface IdempotencyDeps extends StoreEndDeps, ReplayDeps {
  readonly store: Store;
  readonly replySpace: ReplySpace;
  /** This process, which is part of every claim of a key. */
  readonly instance: Instance;
  /** Milliseconds UTC. */
  now(): number;
}

/** The key of a request, and the digest of its content. */
interface Key {
  name: IdempotencyKeyName;
  requestDigest: Buffer;
}

type Unit = (tx: Transaction) => Promise<Reply>;

/** A key to be claimed, the number of bytes that its client has stored, and the space for the response. */
interface Claim {
  key: NewIdempotencyKey;
  keptBytes: number;
  space: ReplyReservation;
}

/**
 * The Idempotency-Key of a request: the reply to the first request is kept for 24 hours and replayed to a request with
 * the same key and the same content. A key belongs to one client and one operation. Keys and contents are stored as
 * keyed digests, and replies are encrypted. If the stored replies of a client take too much space, further keys are
 * stored without the reply.
 */
export function createIdempotency(request: ContractRequest, exchange: Exchange, deps: IdempotencyDeps) {
  const header = request.headers['idempotency-key'];
  const environmentId = (exchange.environment as NonNullable<typeof exchange.environment>).id;
  const route = exchange.operation?.operationId as string;
  const clientId = exchange.client?.clientId ?? '';

  /**
   * Undefined if the request has no key; then it runs each time that it is sent. The key of a request other than POST
   * is ignored: such requests are idempotent, and their operations declare no error for a key.
   */
  const key = typeof header === 'string' && request.method.toUpperCase() === 'POST' ? keyOf(header) : undefined;

  function keyOf(text: string): Key {
    const { method, path, body, bodyDigest } = request;
    const keyDigest = deps.digester.digest('idempotency key', environmentId, clientId, route, text);
    const content = bodyDigest ? bodyDigest.toString('base64url') : JSON.stringify(body ?? null);
    const requestDigest = deps.digester.digest('idempotent request', method, path, content);
    return { name: { clientId, route, keyDigest }, requestDigest };
  }

  /**
   * Prepares the claim of a key, and calls `work` with it. The number of bytes that the client has stored is read
   * before the transaction: each request with a key changes that number, so transactions that read it would conflict.
   *
   * @throws ApiError RATE_LIMITED if the client has too many keys
   */
  async function withClaim<T>(
    key: Key,
    executionId: string | undefined,
    work: (claim: Claim) => Promise<T>,
  ): Promise<T> {
    const { idempotencyKeys } = deps.store.read;
    const at = deps.now();
    const space = deps.replySpace.begin(environmentId, clientId);
    try {
      const keptBytes = await idempotencyKeys.keptBytes(environmentId, clientId);
      if (isFull(keptBytes)) {
        const known = await idempotencyKeys.get(environmentId, key.name);
        if (!known || known.expiresAt <= at) throw tooManyKeys();
      }
      const times = { createdAt: at, expiresAt: at + LIFETIME.idempotencyKeyMs };
      const row = { ...key.name, requestDigest: key.requestDigest, instance: deps.instance.number, ...times };
      const claimed = { ...row, ...(executionId !== undefined && { executionId }) };
      return await work({ key: claimed, keptBytes, space });
    } finally {
      space.end();
    }
  }

  /** Claims the key in a transaction. If an earlier request has used the key, returns the response to that request. */
  async function claim(tx: Repositories, claim: Claim): Promise<Reply | undefined> {
    const claimed = await tx.idempotencyKeys.claim(environmentId, claim.key);
    return claimed.state === 'EXISTING'
      ? replay(tx, environmentId, claimed.row, claim.key.requestDigest, deps)
      : undefined;
  }

  function seal({ key }: Claim, packed: Buffer): Buffer {
    return sealReply(deps.sealedData, keyBinding(environmentId, key), packed, deps.now() + LIFETIME.idempotencyKeyMs);
  }

  async function keep(tx: Repositories, claimed: Claim, reply: Reply, sealed: Buffer): Promise<void> {
    if (wasNotBegun(reply)) await tx.idempotencyKeys.release(environmentId, claimed.key);
    else await tx.idempotencyKeys.complete(environmentId, claimed.key, kept(claimed, reply, sealed));
  }

  return {
    /**
     * Whether an earlier request has used the key, so that `commit` will replay its response or reject this request.
     */
    async isUsed(): Promise<boolean> {
      const known = key && (await deps.store.read.idempotencyKeys.get(environmentId, key.name));
      return known !== undefined && known.expiresAt > deps.now();
    },

    /** The effect, the claim and the stored response are one transaction: all of it happens, or nothing. */
    async commit(unit: Unit, replies?: StoredReplies): Promise<Reply> {
      if (!key) return deps.store.write(unit);
      return withClaim(key, undefined, (claimed) =>
        deps.store.write(async (tx) => {
          const earlier = await claim(tx, claimed);
          if (earlier) return replies ? replies.replay(tx, earlier) : earlier;
          const reply = await unit(tx);
          const shown = replies?.keep ? replies.keep(reply) : reply;
          const sealed = seal(claimed, packReply(shown));
          await tx.idempotencyKeys.completeClaimed(environmentId, claimed.key, kept(claimed, shown, sealed));
          return reply;
        }),
      );
    },

    /**
     * Commits the claim of the key, then calls `act`, and stores its result. If `act` throws, the key stays claimed,
     * because the outcome is unknown. If the server was too busy to act (503), the key is released.
     */
    commitThenAct(
      executionId: string,
      begin: (tx: Transaction) => Promise<void>,
      act: () => Promise<EffectReply>,
    ): Promise<Reply> {
      return deps.instance.executions.during(executionId, () =>
        key
          ? withClaim(key, executionId, (claimed) => commitThenAct(executionId, claimed, begin, act))
          : commitThenAct(executionId, undefined, begin, act),
      );
    },
  };

  async function commitThenAct(
    executionId: string,
    claimed: Claim | undefined,
    begin: (tx: Transaction) => Promise<void>,
    act: () => Promise<EffectReply>,
  ): Promise<Reply> {
    const { value: earlier, durable } = await deps.store.commit(async (tx) => {
      const replayed = claimed && (await claim(tx, claimed));
      if (replayed) return replayed;
      await begin(tx);
      return undefined;
    });
    // The claim of a key must be durable before anything is sent, because a key promises that nothing is done twice.
    // Without a key, the write to the disk and the call run concurrently.
    if (claimed) await durable;
    if (earlier) return earlier;
    const { reply, end } = await act();
    if (claimed) {
      // Compressed and encrypted before the transaction, because other requests wait for the transaction.
      const sealed = seal(claimed, await packReplyInThread(reply));
      // The outcome and the stored response are written in one transaction.
      await storeEnd(deps, end ?? noEnd(executionId), {
        more: (tx) => keep(tx, claimed, reply, sealed),
        durable: true,
      });
    } else if (end) await storeEnd(deps, end);
    await durable;
    return reply;
  }
}

/** Returns a response as it is stored: without its content if the client has no space for it. */
function kept({ keptBytes, space }: Claim, { status }: Reply, sealed: Buffer): IdempotencyReply {
  const isKept = space.take(sealed.length, keptBytes, STORED.keptRepliesBytes);
  return { status, sealedReply: isKept ? sealed : null };
}

/** Whether the server was too busy to act, so that the same request with the same key may be repeated. */
function wasNotBegun({ status, body }: Reply): boolean {
  return status === 503 && (body as { tool_error?: { retryable?: boolean } }).tool_error?.retryable !== false;
}

/** The end of an effect that is not recorded as an execution. */
function noEnd(executionId: string): ExecutionEnd {
  return { executionId, mayHaveChanged: false, write: async () => {} };
}
