import type { RequestMaker } from '../accounts/obtaining/request.ts';
import type { AccountInputs } from '../connectors/account-inputs.ts';
import type { AuthField, AuthPattern, FieldPlacement, OAuthConfig } from '../connectors/auth-pattern.ts';
import type { PlacedCredential, PlacedPart, TokenCredential } from '../connectors/placement.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import type { Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import type { DetailsForm } from './forms.ts';
import type { ConnectionType } from './type.ts';

/**
 * All that the service does differently for the accounts of one authorization type. One file per type makes one, and `registry.ts`
 * lists them. A member that is left out means: nothing of the kind.
 */
export interface AuthorizationModule {
  /** The type under which connections are listed. */
  connectionType: ConnectionType;
  /** The forms of `authorization_details` that accounts take, the usual one first. Empty: accounts need no credentials. */
  forms: readonly DetailsForm[];
  /** What a user types for an account. */
  typed?: TypedRules;
  /** Where requests carry a token. Left out, accounts never hold one that requests carry. */
  placeToken?(pattern: AuthPattern, credential: TokenCredential): PlacedCredential;
  /** The client of a connection. Left out, accounts bring all that they need. */
  client?: ClientRules;
  /** How a user grants access at the provider. */
  consent?: ConsentRules;
  /** Whether the accounts of a pattern are clients themselves: no user grants them anything. */
  isClient?(pattern: AuthPattern): boolean;
  /** How calls of accounts are signed as a whole, where they are. */
  signing?: SigningRules;
  /** The values of an account that tools can take beside its configuration. */
  callInputs?: {
    names: readonly string[];
    /** @throws ApiError for an account that lacks what its calls need */
    read(inputs: AccountInputs, shown: HeldParts['publicDetails']): AccountInputs;
  };
  /** What the configuration of an account gains from the token response. */
  configOf?(tokenResponse: unknown): Record<string, unknown>;
  /** Whether an MCP server can name the authorization server of accounts (RFC 9728). */
  isDiscoveredByMcp?: boolean;
  /** By what the service obtains the next access token of an account; undefined: it obtains none. */
  obtainingOf?(account: HeldParts): Obtaining | undefined;
  /** True when the provider is a record system, which names its token endpoint itself (SMART App Launch 2.2). */
  isRecordSystem?: boolean;
  /** What the application has to store for accounts that no user can connect, as a sentence. */
  storeAdvice?: string;
  /** The grant that the metadata of a provider has to support (RFC 8414 §2, `grant_types_supported`). */
  metadataGrant?: 'authorization_code' | 'client_credentials';
}

export interface SigningRules {
  /**
   * @returns undefined while the account holds nothing to sign with: its calls are not signed
   * @throws OAuthConfigError for a client that cannot sign; ApiError for an account or a provider that lacks what signatures need
   */
  signer(party: SignedParty, tools: SignerTools): RequestSigner | undefined;
  /** Replaces the signer of an account that obtains its credentials when they are needed. */
  preview?(party: Omit<SignedParty, 'details'>): RequestSigner;
}

/** What the signatures of an account depend on. */
export interface SignedParty {
  pattern: AuthPattern;
  apiConfig: Readonly<Record<string, unknown>>;
  /** The opened credentials: forms by name. */
  details: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
}

export interface SignerTools {
  /** The client of the connection. @throws OAuthConfigError */
  client(): ClientCredentials;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** What is known of the credentials of an account while they are sealed. */
export interface HeldParts {
  /** What the service obtained and can obtain again. */
  temporarySealed: Buffer | null;
  publicDetails: Readonly<Record<string, unknown>> | null;
}

/** A grant that several types share (`core/accounts/obtaining/`), or the request of this type alone. */
export type Obtaining = SharedGrant | RequestMaker;

export type SharedGrant = 'refresh_token' | 'client_credentials' | 'delegation' | 'web_identity';

/** The values that are typed for an account, and how requests carry them. */
export interface TypedRules {
  /** The fields of a pattern that lists none. */
  fields: readonly AuthField[];
  /** The names of fields that contain the credential, regardless of their input type. */
  secretNames(fields: readonly AuthField[]): readonly string[];
  /** The names that requests take values from, also where the pattern asks for one of them only. */
  takenNames?: readonly string[];
  /** What is wrong with a value beside the rules of its field. */
  problemOf?(name: string, value: string): string | undefined;
  /** The part of a request that carries the credential. Left out, the accounts only hold it. */
  place?(pattern: AuthPattern, fields: readonly AuthField[], values: Values): PlacedPart[];
  /** Where a field goes that has no `placement`. */
  placeField?(field: AuthField): FieldPlacement;
}

/** What is sent as the value of a field; empty when there is none. */
export type Values = (name: string) => string;

export interface ClientRules {
  /** `registered`: an operator sets it up. `identity_token`: the service signs statements about its accounts. */
  kind: 'registered' | 'identity_token';
  /** How the client authenticates, as it is stored in its terms. By default the `client_auth_method`. */
  method?(config: OAuthConfig): string;
  /** The recipient of signed statements of the client; null: the address that they are sent to. */
  audience?(config: OAuthConfig): string | null;
  /** Whether it has no secret beside the `client_auth_method` `none`. */
  isPublic?(config: OAuthConfig): boolean;
  /** Whether it also signs the calls of accounts. */
  signsCalls?: boolean;
  secret?: {
    /** What the client secret has to be, for an error: "must be …". */
    demand: string;
    /** @throws OAuthConfigError that quotes nothing of the secret */
    read(secret: Secret): unknown;
  };
}

export interface ConsentRules {
  protocol: ConsentProtocol;
  /** Whether users grant access to the accounts of a pattern. By default they do. */
  isFor?(pattern: AuthPattern): boolean;
  /** Whether a pattern says enough to send a user to the provider. */
  isPossible(pattern: AuthPattern): boolean;
}

/** The authorization code of OAuth 2 (RFC 6749 §4.1), or OAuth 1.0a (RFC 5849 §2). */
export type ConsentProtocol = 'oauth2' | 'oauth1';
