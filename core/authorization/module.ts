import type { RequestMaker } from '../accounts/obtaining/request.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthField, AuthPattern, FieldPlacement, OAuthConfig } from '../connectors/auth-pattern.ts';
import type { PlacedCredential, PlacedPart, TokenCredential } from '../connectors/credential.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import type { Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import type { DetailsForm } from './forms.ts';
import type { ConnectionType } from './type.ts';

/**
 * Everything that differs between the accounts of one authorization type. Each type has one file that exports such a
 * module, and `registry.ts` lists them. An omitted member means that the type does not have this feature.
 */
export interface AuthorizationModule {
  /** The connection type that the API shows for this type. */
  connectionType: ConnectionType;
  /**
   * The forms of `authorization_details` that accounts may have, the usual one first. Empty if accounts need no
   * credentials.
   */
  forms: readonly DetailsForm[];
  /** The fields that a user enters for an account. */
  entered?: EntryRules;
  /** Returns the parts of a request that contain the token. Omitted if requests of this type never contain one. */
  placeToken?(pattern: AuthPattern, credential: TokenCredential): PlacedCredential;
  /** The rules for the client of a connection. Omitted if accounts need no client. */
  client?: ClientRules;
  /** How a user grants access at the provider. */
  consent?: ConsentRules;
  /** Whether the accounts of a pattern are OAuth clients themselves, so that no user grants access. */
  isClient?(pattern: AuthPattern): boolean;
  /** How requests are signed, for types whose requests are signed as a whole. */
  signing?: SigningRules;
  /** Account values that tools can use in addition to the account's configuration. */
  callInputs?: {
    names: readonly string[];
    /** @throws ApiError if the account lacks a value that its calls need */
    read(inputs: AccountInputs, shown: CredentialColumns['publicDetails']): AccountInputs;
  };
  /** Returns the values that a token response adds to the account's configuration. */
  configOf?(tokenResponse: unknown): Record<string, unknown>;
  /** Whether an MCP server can name the authorization server of accounts (RFC 9728). */
  isDiscoveredByMcp?: boolean;
  /** Returns how the next access token of an account is obtained; undefined if Valetkey does not obtain one. */
  obtainingOf?(account: CredentialColumns): Obtaining | undefined;
  /** Whether the provider is a health record system, which publishes its own token endpoint (SMART App Launch 2.2). */
  isRecordSystem?: boolean;
  /** For types that users cannot connect by a link: a sentence that tells the application what to store instead. */
  storeAdvice?: string;
  /** The grant type that the provider's metadata must list (RFC 8414 §2, `grant_types_supported`). */
  metadataGrant?: 'authorization_code' | 'client_credentials';
}

export interface SigningRules {
  /**
   * @returns undefined while the account has no credentials to sign with; its calls are then not signed
   * @throws OAuthConfigError if the client cannot sign; ApiError if the account or the provider lacks a value that
   * signatures need
   */
  signer(context: SigningContext, deps: SignerDeps): RequestSigner | undefined;
  /**
   * Returns a signer that can only preview requests, to check a call before the credentials are obtained. Only for
   * types whose credentials are obtained when a call needs them.
   */
  preview?(context: Omit<SigningContext, 'details'>): RequestSigner;
}

/** The values that the signatures of an account depend on. */
export interface SigningContext {
  pattern: AuthPattern;
  apiConfig: Readonly<Record<string, unknown>>;
  /** The decrypted credentials: forms by name. */
  details: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
}

export interface SignerDeps {
  /** Returns the client of the connection. @throws OAuthConfigError */
  client(): ClientCredentials;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** The columns that describe an account's credentials without decrypting them. */
export interface CredentialColumns {
  /** Encrypted credentials that Valetkey obtained and can obtain again. */
  temporarySealed: Buffer | null;
  publicDetails: Readonly<Record<string, unknown>> | null;
}

/** The name of a grant that several types share (`core/accounts/obtaining/`), or a request that only this type uses. */
export type Obtaining = SharedGrant | RequestMaker;

export type SharedGrant = 'refresh_token' | 'client_credentials' | 'delegation' | 'web_identity';

/** The values that users enter for an account, and where requests contain them. */
export interface EntryRules {
  /** The default fields, for a pattern without its own list. */
  fields: readonly AuthField[];
  /** The names of fields that contain the credential, regardless of their input type. */
  secretNames(fields: readonly AuthField[]): readonly string[];
  /**
   * Fields that have a fixed meaning in requests. A pattern that declares its own fields cannot use these names for
   * anything else.
   */
  reservedNames?: readonly string[];
  /** Returns what is wrong with a value, in addition to the rules of its field. */
  problemOf?(name: string, value: string): string | undefined;
  /** Returns the part of a request that contains the credential. Omitted if requests of this type never contain one. */
  place?(pattern: AuthPattern, fields: readonly AuthField[], values: Values): PlacedPart[];
  /** Returns where requests contain a field that has no `placement`. */
  placeField?(field: AuthField): FieldPlacement;
}

/** Returns the value that is sent for a field; an empty string if the field has no value. */
export type Values = (name: string) => string;

export interface ClientRules {
  /**
   * `registered`: an operator registers the client at the provider. `identity_token`: Valetkey signs identity tokens
   * instead.
   */
  kind: 'registered' | 'identity_token';
  /**
   * The authentication method in the client's binding (what the client may be used for); by default the
   * `client_auth_method`.
   */
  method?(config: OAuthConfig): string;
  /** The audience of assertions that the client signs; null: the address that they are sent to. */
  audience?(config: OAuthConfig): string | null;
  /** Whether the client is public (has no secret), although its `client_auth_method` is not `none`. */
  isPublic?(config: OAuthConfig): boolean;
  /** Whether the client also signs the calls of accounts. */
  signsCalls?: boolean;
  secret?: {
    /**
     * The start of the error text for an invalid client secret, for example `must be a private key.`; the reason
     * follows.
     */
    demand: string;
    /** @throws OAuthConfigError that contains no part of the secret */
    read(secret: Secret, pattern: AuthPattern): unknown;
  };
}

export interface ConsentRules {
  protocol: ConsentProtocol;
  /** Whether accounts of a pattern need a user's consent; by default they do. */
  isFor?(pattern: AuthPattern): boolean;
  /** Whether a pattern has the addresses that consent needs. */
  isPossible(pattern: AuthPattern): boolean;
}

/** The authorization code flow of OAuth 2 (RFC 6749 §4.1), or OAuth 1.0a (RFC 5849 §2). */
export type ConsentProtocol = 'oauth2' | 'oauth1';
