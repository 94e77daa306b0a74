import type { EnvironmentId } from '../environment-id.ts';
import type { AccountRow } from './accounts.ts';
import type { ConnectionRow } from './connections.ts';

/** The columns that are needed to rewrap the data key of an account. */
export type WrappedKeyRow = Pick<AccountRow, 'seq' | 'id' | 'environmentId' | 'credentialGeneration' | 'origins'> & {
  wrappedDataKey: Buffer;
  kekId: string;
};

export type SealedConnectionSecretRow = Pick<
  ConnectionRow,
  'id' | 'environmentId' | 'clientGeneration' | 'clientBinding'
> & {
  clientSecretSealed: Buffer;
};

/** A data key of an unverified grant or of stored contents, or the payload of a job. */
export interface SealedWaitingRow {
  table: 'auth_requests' | 'jobs' | 'stored_contents';
  id: string;
  environmentId: EnvironmentId;
  sealed: Buffer;
}
