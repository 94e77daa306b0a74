import { ApiError, type ApiErrorOptions } from '../../core/errors.ts';
import type { Digester } from '../../core/vault/digest.ts';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
import type {
  EnvironmentId,
  ExecutionRow,
  IdempotencyKeyName,
  IdempotencyKeyRow,
  Repositories,
} from '../../db/store.ts';
import type { Reply } from '../contract.ts';
import { respondUntyped } from '../responses/reply.ts';
import { openReply } from './stored-replies.ts';

export interface ReplayDeps {
  readonly digester: Digester;
  /** Encrypts the stored replies. */
  readonly sealedData: SealedTokens;
}

/**
 * Returns the stored reply to the request that has used an idempotency key first.
 *
 * @param row the key as the first request has claimed it
 * @param requestDigest the digest of the present request, which must have the same content
 * @throws ApiError IDEMPOTENCY_KEY_REUSED if the content is different, IDEMPOTENCY_KEY_IN_USE if the first request is
 * running, EXECUTION_OUTCOME_UNKNOWN if it was interrupted, IDEMPOTENCY_REPLY_NOT_KEPT if its reply was not stored, or
 * was altered in the database
 */
export async function replay(
  tx: Repositories,
  environmentId: EnvironmentId,
  row: IdempotencyKeyRow,
  requestDigest: Buffer,
  { digester, sealedData }: ReplayDeps,
): Promise<Reply> {
  if (!digester.equal(row.requestDigest, requestDigest)) {
    throw new ApiError(
      'IDEMPOTENCY_KEY_REUSED',
      'The idempotency key was used for a request with different content. Use a new key.',
    );
  }
  const isDone = row.state !== 'RUNNING';
  const stored = isDone && row.sealedReply && openReply(sealedData, keyBinding(environmentId, row), row.sealedReply);
  if (stored) return respondUntyped(stored.status, stored.body, { ...stored.headers, 'idempotency-replayed': 'true' });
  const { executionId } = row;
  // Not every request with an effect outside of the database is recorded as an execution.
  const execution = executionId === null ? undefined : await tx.executions.get(environmentId, executionId);
  throw isDone ? notStored(row, execution) : await stillRunning(tx, row, execution);
}

/** Returns the encryption context of a stored reply, so that the reply can be decrypted for this key only. */
export function keyBinding(environmentId: string, { clientId, route, keyDigest }: IdempotencyKeyName): string[] {
  return [environmentId, clientId, route, keyDigest.toString('base64url')];
}

/**
 * Returns the error for a response that was not stored, because the client's quota was used up, or that was altered.
 * In both cases the request was carried out.
 */
function notStored({ status, sealedReply }: IdempotencyKeyRow, execution: ExecutionRow | undefined): ApiError {
  const which = execution ? ` as the execution ${execution.id}` : '';
  const advice = execution ? 'Read that execution.' : 'Read the resource to see the result.';
  const reason = sealedReply === null ? 'was not stored' : 'was altered in the database, so it cannot be repeated';
  const detail = `The first request with this idempotency key was carried out${which} and returned ${status}; its response ${reason}. ${advice}`;
  return new ApiError('IDEMPOTENCY_REPLY_NOT_KEPT', detail, naming(execution));
}

async function stillRunning(
  tx: Repositories,
  { executionId, instance }: IdempotencyKeyRow,
  execution: ExecutionRow | undefined,
): Promise<ApiError> {
  // The first request was handled by a process that has ended, or its outcome could not be stored: there will be no
  // response.
  const isGone = !(await tx.instances.isRegistered(instance));
  if (executionId === null || !(isGone || execution?.status === 'UNKNOWN'))
    return new ApiError(
      'IDEMPOTENCY_KEY_IN_USE',
      'The first request with this idempotency key is still running. Send the request again later.',
    );
  const what = execution ? `execution ${execution.id}` : 'first request with this idempotency key';
  const detail = `The ${what} was interrupted; whether it had an effect is unknown. Check at the provider before you repeat it.`;
  return new ApiError('EXECUTION_OUTCOME_UNKNOWN', detail, naming(execution));
}

function naming(execution: ExecutionRow | undefined): ApiErrorOptions {
  return execution ? { extra: { execution_id: execution.id } } : {};
}
