import type { AccountRow, ConnectionRow } from '../../../db/store.ts';
import type { AccountInputs } from '../../connectors/account-inputs.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import type { OAuthProvider } from '../../oauth/provider.ts';
import type { TokenFailure } from '../../oauth/refresh-outcome.ts';
import type { TokenSet } from '../../oauth/token-answer.ts';
import type { ProtocolFetch } from '../../oauth/transport.ts';
import type { SignIdentityToken } from '../../trusted-idp/identity-token.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Details } from '../details.ts';

/** What a token is obtained for and with, as it was read at one moment. */
export interface Setting {
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  /** What the account was given: nothing that the service obtained is among it. */
  given: Details;
  vault: Vault;
  /**
   * Makes sure that what the account is bound to allows a destination. To be called before anything secret is opened for it.
   *
   * @throws HostsChangedError
   */
  requireDestination(destination: Destination): void;
  /** The connection, once its client may be used at the endpoints of the provider. @throws OAuthConfigError when it may not */
  secured(oauth: OAuthProvider): Promise<ConnectionRow>;
  /** The provider's OAuth as it is now, asked for where its pattern leaves its endpoints to discovery. */
  askProvider(inputs: AccountInputs): Promise<AskedProvider>;
  /** By which name this environment vouches for its accounts: its base URL. */
  issuer: string;
  word: Word;
}

export interface AskedProvider {
  oauth: OAuthProvider;
  /** Who says where its endpoints are; undefined: the pattern. */
  vouching: string | undefined;
}

/** By which this service gives its word for an account. */
export interface Word {
  sign: SignIdentityToken;
  random(size: number): Buffer;
}

/** Where a request for a token goes. */
export interface Destination {
  origin: string;
  /** The origin that says so, where it is not the pattern: credentials that are bound to it may go where it says first. */
  vouching?: string | undefined;
}

/** The credentials of the account are not for this destination: nothing may be sent there (threat P2). */
export class HostsChangedError extends Error {}

/** A request for a token, ready to be sent. */
export interface TokenRequest extends Destination {
  /**
   * Sends it: once, judged.
   *
   * @param fetch pinned to the origin, and bounded in time
   * @param now milliseconds UTC
   * @throws what is a mistake of ours
   */
  send(fetch: ProtocolFetch, now: () => number): Promise<ObtainOutcome>;
}

/** Makes the request of one kind. @throws SilentProviderError, OAuthConfigError, ApiError for what a value of the account or the connection lacks */
export type RequestMaker = (setting: Setting) => TokenRequest | Promise<TokenRequest>;

export interface Obtained {
  /** Milliseconds UTC; null where it is not known. */
  expiresAt: number | null;
  /** Puts what was obtained beside what the account was given. */
  store(given: Details): StoredParts;
  /** What could be revoked should it come too late. null: it ends by itself before long. */
  tokens: TokenSet | null;
}

export interface StoredParts {
  given: Details;
  /** What can be obtained again. */
  temporary: Details;
}

export type ObtainOutcome = { ok: true; obtained: Obtained } | TokenFailure;
