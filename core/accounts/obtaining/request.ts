import type { AccountRow, ConnectionRow } from '../../../db/store.ts';
import type { AccountInputs } from '../../connectors/account-value.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import type { OAuthProvider } from '../../oauth/provider.ts';
import type { TokenFailure } from '../../oauth/refresh-outcome.ts';
import type { TokenSet } from '../../oauth/token-response.ts';
import type { ProtocolFetch } from '../../oauth/transport.ts';
import type { SignIdentityToken } from '../../trusted-idp/identity-token.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Details } from '../authorization-details.ts';

/** Everything that a token request is built from, as it was read at one moment. */
export interface TokenContext {
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  /** The credentials that were supplied, without those that Valetkey obtained. */
  given: Details;
  vault: Vault;
  /**
   * Checks that the account may send credentials to a destination. Call it before decrypting anything secret for this
   * destination.
   *
   * @throws HostsChangedError
   */
  requireDestination(destination: Destination): void;
  /**
   * Checks that the connection's client may be used at the provider's endpoints, and returns the connection.
   *
   * @throws OAuthConfigError if it may not
   */
  secured(oauth: OAuthProvider): Promise<ConnectionRow>;
  /**
   * Returns the provider's current OAuth configuration; reads its metadata if the pattern does not contain the
   * endpoints.
   */
  discoverProvider(inputs: AccountInputs): Promise<DiscoveredProvider>;
  /** The issuer of identity tokens for the accounts of this environment: its base URL. */
  issuer: string;
  signer: TokenSigner;
}

export interface DiscoveredProvider {
  oauth: OAuthProvider;
  /** The origin that determined the endpoints; undefined if they are from the pattern. */
  namingOrigin: string | undefined;
}

/** Issues identity tokens: JWTs that identify an account to a cloud. `random` creates the ids of the tokens. */
export interface TokenSigner {
  sign: SignIdentityToken;
  random(size: number): Buffer;
}

/** The origin that a token request is sent to. */
export interface Destination {
  origin: string;
  /**
   * The origin whose metadata named this address; undefined if the pattern contains the address. Credentials that are
   * bound to the naming origin may be sent to the first origin that it names.
   */
  namingOrigin?: string | undefined;
}

/** A token request was not sent, because the account is not bound to its destination (threat P2). */
export class HostsChangedError extends Error {}

/** A token request, ready to be sent. */
export interface TokenRequest extends Destination {
  /**
   * Sends the request once and interprets the response.
   *
   * @param fetch restricted to the origin, with a time limit
   * @param now milliseconds UTC
   * @throws the error of `fetch` if the provider cannot be reached; the caller treats it as a temporary failure. Any
   * other error is unexpected
   */
  send(fetch: ProtocolFetch, now: () => number): Promise<ObtainOutcome>;
}

/**
 * Builds a token request of one kind.
 *
 * @throws SilentProviderError if the provider's metadata cannot be read now; OAuthConfigError or ApiError if a value of
 * the account or the connection is missing or wrong; HostsChangedError, as `requireDestination`
 */
export type RequestMaker = (tokenContext: TokenContext) => TokenRequest | Promise<TokenRequest>;

export interface Obtained {
  /** Milliseconds UTC; null if unknown. */
  expiresAt: number | null;
  /** Returns the account's credentials with the obtained ones added. */
  store(given: Details): StoredParts;
  /** The tokens to revoke if they arrive when the account no longer needs them; null if they expire soon anyway. */
  tokens: TokenSet | null;
}

export interface StoredParts {
  given: Details;
  /** Credentials that can be obtained again. */
  temporary: Details;
}

export type ObtainOutcome = { ok: true; obtained: Obtained } | TokenFailure;
