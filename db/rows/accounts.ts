import type { AuthorizationType } from '../../core/authorization/type.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { JsonObject } from './json-object.ts';

export type AccountStatus = 'ACTIVE' | 'EXPIRED' | 'PENDING_AUTH' | 'PENDING_VERIFICATION' | 'DISCONNECTED';

/** What the credential of an account is bound to, in addition to its origins. */
export interface AccountBinding {
  /** The base URL of the provider's API when the credential was stored; null if it had none. */
  base: string | null;
  /**
   * A digest of where requests contain the credential and how they are signed. If the provider's definition now gives
   * another digest, the credential must not be used.
   */
  use: string;
  /** For each static field of the credential, whether its value may be shown. */
  fields: Record<string, 'public' | 'secret'>;
  /**
   * The origin that issued the first token, if the provider's metadata names the token endpoint; null if it does not,
   * or if there was no token yet.
   */
  issued: string | null;
  /** The URL directories in which its tokens may be renewed and revoked; empty if the origins suffice. */
  endpoints: string[];
}

/** The columns of an account that lists return. */
export interface AccountSummaryRow {
  /** The position in the order of creation, assigned by the database. */
  seq: number;
  id: string;
  environmentId: EnvironmentId;
  connectionId: string;
  /** The key id of the connection. */
  connector: string;
  provider: string;
  organizationId: string;
  userId: string;
  identifier: string;
  authorizationType: AuthorizationType;
  status: AccountStatus;
  statusReason: string | null;
  tokenExpiresAt: number | null;
  lastUsedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** The columns of an account without its secrets. */
export interface AccountShownRow extends AccountSummaryRow {
  apiConfig: JsonObject;
  publicDetails: JsonObject | null;
}

export interface AccountRow extends AccountShownRow {
  origins: string[];
  binding: AccountBinding;
  providerSubject: string | null;
  /** The scopes that its MCP server required beyond those of its token. */
  requiredScopes: string[] | null;
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  credentialsSealed: Buffer | null;
  /** Credentials that Valetkey obtained for the account, for example a token. */
  temporarySealed: Buffer | null;
  credentialGeneration: number;
  version: number;
}

/** The row that remains of a deleted account. */
export interface AccountTombstone {
  id: string;
  environmentId: EnvironmentId;
  seq: number;
  /** The last generation of its credentials. */
  generation: number;
  deletedAt: number;
}

type Required = 'id' | 'connectionId' | 'connector' | 'provider' | 'identifier' | 'authorizationType' | 'status';

type Given = Pick<AccountRow, Required | 'createdAt' | 'updatedAt'>;

/** The columns that a new account may omit. */
export type OptionalColumns = Omit<AccountRow, keyof Given | 'seq' | 'environmentId' | 'version'>;

/** A new account; omitted columns are empty. `version` starts at 1. */
export type NewAccount = Given & Partial<OptionalColumns>;

/**
 * The columns that an update may change. `version` is incremented with each update. The key of an account and its
 * connection never change.
 */
export type AccountChanges = { updatedAt: number } & Partial<
  Pick<
    AccountRow,
    | 'authorizationType'
    | 'status'
    | 'statusReason'
    | 'tokenExpiresAt'
    | 'apiConfig'
    | 'publicDetails'
    | 'origins'
    | 'binding'
    | 'providerSubject'
    | 'requiredScopes'
    | 'wrappedDataKey'
    | 'kekId'
    | 'credentialsSealed'
    | 'temporarySealed'
    | 'credentialGeneration'
  >
>;

/** The key of an account. An omitted field matches any value, so two rows mean that the key is ambiguous. */
export type AccountKey = { organizationId?: string; userId?: string; identifier: string } & (
  | { connectionId: string; connector?: never }
  | { connector: string; connectionId?: never }
);

export interface AccountFilters {
  userId?: string;
  identifier?: string;
  organizationId?: string;
  connectionId?: string;
  /** The key id of a connection. */
  connector?: string;
  provider?: string;
  status?: AccountStatus;
}

export interface AccountSearch {
  /** At least three code points. Matched literally and case-insensitively within identifier, provider or connector. */
  query: string;
  connectionId?: string;
}

export interface StatusChange {
  status: AccountStatus;
  reason: string | null;
  updatedAt: number;
}

export interface IdleAccounts {
  provider: string;
  type: AuthorizationType;
  /** Milliseconds UTC: tokens that expired at this time or earlier. */
  endedBy: number;
  /** The last account of the previous batch. */
  after?: Pick<AccountRow, 'tokenExpiresAt' | 'seq'>;
  limit: number;
}
