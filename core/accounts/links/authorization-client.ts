import type { AccountRow, ConnectionRow, EnvironmentRow } from '../../../db/store.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import type { Details } from '../details.ts';
import type { JsonObject } from '../merge.ts';

/** Whom an authorization is for, and what at the provider, as it was read at one moment. */
export interface AuthorizationPlan {
  environment: Pick<EnvironmentRow, 'kind'>;
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  /** The account's configuration with what the person has just typed. */
  apiConfig: JsonObject;
  /** The one address that the provider may send the person back to. */
  redirectUri: string;
}

/** What was granted. */
export interface Grant {
  details: Details;
  /** Milliseconds UTC; null when it is not known. */
  tokenExpiresAt: number | null;
  /** The permanent id of the user at the provider; null if the provider does not return one. */
  subject: string | null;
  /** What the account's configuration gains: typed by the person, or told by the provider. */
  apiConfig: JsonObject;
  /** Where the credentials may be sent, beside what the provider's definition names. */
  origins: string[];
}

export type Begun =
  | {
      ok: true;
      /** Where to send the browser. */
      url: string;
      /** What the browser brings back to be known by: 256 random bits in base64url. */
      state: string;
      /** What must be there again then, and must not be seen by anyone: verifier, nonce, temporary secrets. */
      kept: object;
    }
  | { ok: false; message: string };

/** `refused`: the person, or the provider on their behalf, said no. Messages are fixed sentences for the log. */
export type Finished =
  | { ok: true; grant: Grant }
  /** `grant`: what was granted before it failed, to be given up. */
  | { ok: false; kind: 'refused' | 'failed'; message: string; grant?: Grant };

/**
 * The protocol by which a person grants access: the authorization code of OAuth 2, the three legs of OAuth 1.0a. It knows nothing of
 * links; who calls it has made sure that the browser which comes back is the one that left.
 */
export interface AuthorizationClient {
  /** Whether the browser comes back with the token in the fragment of the address, which a page of ours has to read. */
  returnsByFragment(pattern: AuthPattern): boolean;
  begin(plan: AuthorizationPlan): Promise<Begun>;
  /** The state in the query of a callback, which some providers call otherwise; undefined unless there is exactly one. */
  readState(pattern: AuthPattern | undefined, answer: URLSearchParams): string | undefined;
  /**
   * Validates the callback request of the browser and redeems its code or token, using only the data that was stored for this
   * flow.
   *
   * @param kept what `begin` returned, as JSON
   * @param answer the query of the callback, or the form that the fragment page posted
   */
  finish(plan: AuthorizationPlan, kept: object, answer: URLSearchParams): Promise<Finished>;
}
