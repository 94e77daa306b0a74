export type IdempotencyState = 'RUNNING' | 'DONE';

export interface IdempotencyKeyRow {
  clientId: string;
  route: string;
  /** A 32-byte digest of the header's value. */
  keyDigest: Buffer;
  requestDigest: Buffer;
  state: IdempotencyState;
  status: number | null;
  sealedReply: Buffer | null;
  executionId: string | null;
  /** The number of the instance that handles the request. */
  instance: number;
  createdAt: number;
  expiresAt: number;
}

/** The columns that identify a key within an environment. */
export type IdempotencyKeyName = Pick<IdempotencyKeyRow, 'clientId' | 'route' | 'keyDigest'>;

export type NewIdempotencyKey = IdempotencyKeyName &
  Pick<IdempotencyKeyRow, 'requestDigest' | 'instance' | 'createdAt' | 'expiresAt'> & {
    /** The execution of the request, which has not been sent yet. */
    executionId?: string;
  };

/** The stored result of a request. */
export interface IdempotencyReply {
  status: number;
  /** null if it is too large to be stored. */
  sealedReply: Buffer | null;
}

export type IdempotencyClaim = { state: 'NEW' } | { state: 'EXISTING'; row: IdempotencyKeyRow };
