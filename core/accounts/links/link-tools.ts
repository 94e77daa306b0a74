import type { Store } from '../../../db/store.ts';
import type { Events } from '../../events/events.ts';
import type { JobQueue } from '../../jobs/queue.ts';
import type { Digester } from '../../vault/digest.ts';
import type { SealedTokens } from '../../vault/sealed-token.ts';
import type { Vault } from '../../vault/vault.ts';
import type { AuthorizationClient } from './authorization-client.ts';
import type { ContextTools, LinkContext } from './link-context.ts';

/** What links work with. */
export interface LinkTools extends ContextTools {
  store: Store;
  vault: Vault;
  digester: Digester;
  events: Events;
  authorization: AuthorizationClient;
  /** Learns what is still to be learned of a provider before a person is sent to it. */
  readyForConsent(link: LinkContext): Promise<{ ok: true; changed: boolean } | { ok: false; message: string }>;
  /** Seals what is kept of a flow; for texts of any length. */
  sealedFlows: SealedTokens;
  random(size: number): Buffer;
  jobQueue: JobQueue;
  newId(prefix: 'areq'): string;
  /** Removes what was wiped from the database file soon. */
  scrubStorage(): void;
  log: LinkLog;
}

/** The part of a logger that links use. No line carries a token, a state, a code, an address or an identifier. */
export interface LinkLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How long a person may take at the provider, and an application to verify them afterwards, in milliseconds. */
export const FLOW_MS = 10 * 60 * 1000;
export const VERIFY_MS = 10 * 60 * 1000;
