import type { EnvironmentId } from '../environment-id.ts';
import type { JsonObject } from './json-object.ts';

export type ConnectionStatus = 'DRAFT' | 'IN_PROGRESS' | 'COMPLETED';

/** What the client of a connection was set up for. */
export interface ClientBinding {
  /** How the client authenticates at the provider. */
  method: string;
  /** The audience of its signed assertions, where one is given. */
  audience: string | null;
  /** OAuth endpoints of the provider are these addresses, or are below them. */
  within: string[];
  /** Where its tokens are used; null where the provider named no base. */
  base: string | null;
  /** `allowed_addresses` of the connection. */
  allowed: string[] | null;
  /** Whether the service registered the client itself; otherwise an operator stored it. */
  registered: boolean;
  /** What the definition of the provider left open, as it was when the client was first used. */
  pinned: {
    /** Addresses that a value of an account chose. */
    byAccount: string[];
    /** Origins that the provider's own metadata named; null: the metadata have not been read yet. */
    byProvider: string[] | null;
  };
}

export interface ConnectionRow {
  id: string;
  environmentId: EnvironmentId;
  keyId: string;
  providerKey: string;
  type: string;
  status: ConnectionStatus;
  enabled: boolean;
  organizationId: string;
  organizationName: string;
  domains: string[];
  clientId: string | null;
  clientSecretSealed: Buffer | null;
  clientGeneration: number;
  clientBinding: ClientBinding | null;
  scopes: string[];
  allowedTools: string[] | null;
  allowedAddresses: string[] | null;
  mcpTimeoutSeconds: number | null;
  verificationMode: string;
  postUserVerifyRedirectUrl: string | null;
  settings: JsonObject;
  version: number;
  createdAt: number;
  updatedAt: number;
}

type Required = 'id' | 'keyId' | 'providerKey' | 'type' | 'status' | 'verificationMode' | 'createdAt' | 'updatedAt';

/** A new connection; what is left out is empty, `enabled` is true, `version` starts at 1. */
export type NewConnection = Pick<ConnectionRow, Required> &
  Partial<Omit<ConnectionRow, Required | 'environmentId' | 'version'>>;

/** What an update may change; `version` is incremented with each. */
export type ConnectionChanges = { updatedAt: number } & Partial<
  Omit<ConnectionRow, 'id' | 'environmentId' | 'keyId' | 'providerKey' | 'version' | 'createdAt' | 'updatedAt'>
>;

export interface ConnectionFilters {
  organizationId?: string;
  providerKeys?: string[];
  types?: string[];
  status?: ConnectionStatus;
  enabled?: boolean;
}
