import type { AuthorizationType } from '../../core/authorization/type.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { JsonObject } from './json-object.ts';

export type AccountStatus = 'ACTIVE' | 'EXPIRED' | 'PENDING_AUTH' | 'PENDING_VERIFICATION' | 'DISCONNECTED';

/** What the credential of an account is bound to, besides its origins. */
export interface AccountBinding {
  /** The base address of the provider's API at that time; null where there was none. */
  base: string | null;
  /** Digest of how requests carry the credential. */
  use: string;
  /** For each static field of the credential, whether its value may be shown. */
  fields: Record<string, 'public' | 'secret'>;
  /** The origin that issued a first token, where the provider's metadata name it; null: none has yet. */
  issued: string | null;
  /** The directories in which its tokens may be renewed and revoked; empty where the origins are sufficient. */
  endpoints: string[];
}

/** An account as lists show it. */
export interface AccountSummaryRow {
  /** The place in the order of creation. The database assigns it. */
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

/** An account as it is shown without its secrets. */
export interface AccountShownRow extends AccountSummaryRow {
  apiConfig: JsonObject;
  publicDetails: JsonObject | null;
}

export interface AccountRow extends AccountShownRow {
  origins: string[];
  binding: AccountBinding;
  providerSubject: string | null;
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  credentialsSealed: Buffer | null;
  /** What the service obtained for the account, such as a token. */
  temporarySealed: Buffer | null;
  credentialGeneration: number;
  version: number;
}

/** What is left of an account that was removed. */
export interface AccountTombstone {
  id: string;
  environmentId: EnvironmentId;
  seq: number;
  /** The last generation of its credentials. */
  generation: number;
  deletedAt: number;
}

type Required = 'id' | 'connectionId' | 'connector' | 'provider' | 'identifier' | 'authorizationType' | 'status';

/** A new account; what is left out is empty. `version` starts at 1. */
export type NewAccount = Pick<AccountRow, Required | 'createdAt' | 'updatedAt'> &
  Partial<Omit<AccountRow, Required | 'createdAt' | 'updatedAt' | 'seq' | 'environmentId' | 'version'>>;

/** What an update may change. `version` is incremented with each; the identity of an account and its connection never change. */
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
    | 'wrappedDataKey'
    | 'kekId'
    | 'credentialsSealed'
    | 'temporarySealed'
    | 'credentialGeneration'
  >
>;

/** An account by what its owner knows. What is not given does not constrain, so two rows mean that the key is ambiguous. */
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
  /** At least three code points. Matched literally, without regard to case, within identifier, provider or connector. */
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
  /** Milliseconds UTC: tokens that ended then, or earlier. */
  endedBy: number;
  /** The last account of the previous piece. */
  after?: Pick<AccountRow, 'tokenExpiresAt' | 'seq'>;
  limit: number;
}
