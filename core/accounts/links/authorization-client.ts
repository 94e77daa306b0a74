import type { AccountRow, ConnectionRow, EnvironmentRow } from '../../../db/store.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import type { Details } from '../authorization-details.ts';
import type { JsonObject } from '../merge.ts';

/** The account that a user authorizes, and everything that the protocol needs for it, as it was read at one moment. */
export interface AuthorizationPlan {
  environment: Pick<EnvironmentRow, 'kind'>;
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  /** The account's configuration, including what the user has just entered. */
  apiConfig: JsonObject;
  /** The only address that the provider may redirect the user to. */
  redirectUri: string;
}

/** The result of an authorization. */
export interface Grant {
  details: Details;
  /** Milliseconds UTC; null if unknown. */
  tokenExpiresAt: number | null;
  /** The permanent id of the user at the provider; null if the provider does not return one. */
  subject: string | null;
  /** Values to add to the account's configuration, entered by the user or returned by the provider. */
  apiConfig: JsonObject;
  /** Origins that the credentials may be sent to, in addition to those of the provider's definition. */
  origins: string[];
}

export type StartedAuthorization =
  | {
      ok: true;
      /** Where to send the browser. */
      url: string;
      /** Identifies the flow when the browser returns: 256 random bits in base64url. */
      state: string;
      /** Data that the callback needs and that must stay secret: verifier, nonce, temporary secrets. */
      kept: object;
    }
  | { ok: false; message: string };

/**
 * `refused`: the user, or the provider on the user's behalf, declined. `failed`: the provider violated the protocol or
 * could not be reached, or a setting is wrong. The message is a sentence for the log.
 */
export type Finished =
  | { ok: true; grant: Grant }
  /** `grant`: what was granted before the failure. It must be revoked. */
  | { ok: false; kind: 'refused' | 'failed'; message: string; grant?: Grant };

/**
 * A protocol by which a user grants access: the authorization code flow of OAuth 2, or OAuth 1.0a. It is independent of
 * links: the caller checks that the same browser started and finishes the flow.
 */
export interface AuthorizationClient {
  /**
   * Whether the provider returns the token in the fragment of the callback URL, which browsers do not send to servers.
   */
  returnsByFragment(pattern: AuthPattern): boolean;
  begin(plan: AuthorizationPlan): Promise<StartedAuthorization>;
  /**
   * Returns the state from the query of a callback. Some providers use another name for the parameter. Returns
   * undefined unless the query contains exactly one state.
   */
  readState(pattern: AuthPattern | undefined, answer: URLSearchParams): string | undefined;
  /**
   * Validates the callback request of the browser and redeems its code or token, using only the data that was stored
   * for this flow.
   *
   * @param kept what `begin` returned, as JSON
   * @param answer the query of the callback, or the form that the fragment page posted
   */
  finish(plan: AuthorizationPlan, kept: object, answer: URLSearchParams): Promise<Finished>;
}
