/** The client's knowledge of an account. Only what was acknowledged is certain. */
export interface LedgerAccount {
  /** The account key, which finds the account if no response contained its id. */
  identifier: string;
  id?: string;
  /** `doubtful`: a request that creates or deletes it had no response. */
  state: 'there' | 'deleted' | 'doubtful';
  /** The `version` setting that was acknowledged last. */
  version: number;
  /** A version that was sent without getting a response. */
  sentVersion?: number;
  /** The last bytes of the wrapped data key of its credentials, as they are stored. */
  mark?: Buffer;
  /** The idempotency key of its creation, if it had one. */
  key?: string;
}

/** A call of a tool that changes something at its provider. */
export interface LedgerCall {
  /** Identifies the effect at the provider. */
  nonce: string;
  accountId: string;
  key?: string;
  /** Whether it is a raw call, which supports no idempotency key. */
  isRaw?: boolean;
  executionId?: string;
}

/** An account whose tokens rotate with each refresh. */
export interface LedgerGrant {
  id: string;
  name: string;
  /** Whether a request that may refresh it had no response. */
  isDoubtful: boolean;
  /** How often its tokens had been rotated at the provider by the last response. */
  rotations: number;
}

/** The acknowledged and the doubtful writes of a server that is killed repeatedly. */
export interface Ledger {
  accounts: LedgerAccount[];
  calls: LedgerCall[];
  /** Executions of read-only calls whose response was received since the last kill. */
  readExecutions: string[];
  grants: LedgerGrant[];
  /** Identifiers of users whose link was verified, and of users whose verification had no response. */
  linked: Set<string>;
  doubtfulLinks: Set<string>;
  /** The secrets of an API client, one of which is valid. The first one was acknowledged last. */
  secrets: string[];
  clientId: string;
  /** The versions of an imported document, one of which is stored. The first one was acknowledged last. */
  imports: number[];
  /** Responses that no client should see. */
  faults: string[];
  acknowledged: number;
}

export function createLedger(): Ledger {
  return {
    accounts: [],
    calls: [],
    readExecutions: [],
    grants: [],
    linked: new Set(),
    doubtfulLinks: new Set(),
    secrets: [],
    clientId: '',
    imports: [],
    faults: [],
    acknowledged: 0,
  };
}
