import type { EnvironmentId } from '../environment-id.ts';

export type ConnectionStatus = 'DRAFT' | 'IN_PROGRESS' | 'COMPLETED';

/** The use that the client of a connection was set up for. */
export interface ClientBinding {
  /** How the client authenticates at the provider. */
  method: string;
  /** The audience of its signed assertions, if it is defined. */
  audience: string | null;
  /** The OAuth endpoints of the provider must be at or below these addresses. */
  within: string[];
  /** The base URL where its tokens are used; null if the provider has none. */
  base: string | null;
  /** `allowed_addresses` of the connection. */
  allowed: string[] | null;
  /** Whether Valetkey registered the client itself; otherwise an operator stored it. */
  registered: boolean;
  /** The addresses that the provider's definition leaves open, as they were when the client was first used. */
  pinned: {
    /** Addresses that an account value determined. */
    byAccount: string[];
    /** Origins from the provider's own metadata; null if the metadata was not read yet. */
    byProvider: string[] | null;
  };
}

/** Settings that are not searched for; omitted ones have their defaults. */
export interface ConnectionSettings {
  /** Whether requests for accounts contain the header `traceparent`; false by default. */
  sendTraceContext?: boolean;
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
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  clientSecretSealed: Buffer | null;
  clientGeneration: number;
  clientBinding: ClientBinding | null;
  scopes: string[];
  allowedTools: string[] | null;
  allowedAddresses: string[] | null;
  mcpTimeoutSeconds: number | null;
  verificationMode: string;
  postUserVerifyRedirectUrl: string | null;
  settings: ConnectionSettings;
  version: number;
  createdAt: number;
  updatedAt: number;
}

type Required = 'id' | 'keyId' | 'providerKey' | 'type' | 'status' | 'verificationMode' | 'createdAt' | 'updatedAt';

/** A new connection; omitted columns are empty, `enabled` is true, `version` starts at 1. */
export type NewConnection = Pick<ConnectionRow, Required> &
  Partial<Omit<ConnectionRow, Required | 'environmentId' | 'version'>>;

/** The columns that an update may change; `version` is incremented with each update. */
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
