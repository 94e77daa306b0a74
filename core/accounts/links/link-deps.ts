import type { Store } from '../../../db/store.ts';
import type { Events } from '../../events/events.ts';
import type { CheckCredentials } from '../../executions/credential-check.ts';
import type { JobQueue } from '../../jobs/queue.ts';
import type { Digester } from '../../vault/digest.ts';
import type { SealedTokens } from '../../vault/sealed-token.ts';
import type { Vault } from '../../vault/vault.ts';
import type { AuthorizationClient } from './authorization-client.ts';
import type { ContextDeps, LinkContext } from './link-context.ts';

/** The dependencies of links. */
export interface LinkDeps extends ContextDeps {
  store: Store;
  vault: Vault;
  digester: Digester;
  events: Events;
  authorization: AuthorizationClient;
  /**
   * Reads the provider's metadata that consent needs, before the user is redirected. `changed`: the stored provider or
   * connection has changed, so the link must be read again.
   */
  prepareConsent(link: LinkContext): Promise<{ ok: true; changed: boolean } | { ok: false; message: string }>;
  /** Asks the provider whether it accepts what a user entered. */
  checkCredentials: CheckCredentials;
  /** Encrypts the stored data of a flow; accepts texts of any length. */
  sealedFlows: SealedTokens;
  random(size: number): Buffer;
  jobQueue: JobQueue;
  newId(prefix: 'areq'): string;
  /** Removes deleted rows from the database file soon. */
  scrubStorage(): void;
  log: LinkLog;
}

/**
 * The part of a logger that links use. No log line contains a token, a state, a code, an address or the identifier of a
 * user.
 */
export interface LinkLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * How long a user may take at the provider, and how long the application may then take to verify the user, in
 * milliseconds.
 */
export const FLOW_MS = 10 * 60 * 1000;
export const VERIFY_MS = 10 * 60 * 1000;
