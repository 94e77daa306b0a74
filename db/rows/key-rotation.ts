import type { EnvironmentId } from '../environment-id.ts';
import type { AccountRow } from './accounts.ts';

/** The columns that are needed to rewrap the data key of an account. */
export type WrappedKeyRow = Pick<AccountRow, 'seq' | 'id' | 'environmentId' | 'credentialGeneration' | 'origins'> & {
  wrappedDataKey: Buffer;
  kekId: string;
};

/** The tables whose rows have a data key. */
export type DataKeyTable =
  | 'accounts'
  | 'auth_requests'
  | 'connections'
  | 'jobs'
  | 'login_providers'
  | 'stored_contents';

/** The data key of an unverified grant, of a client secret, of stored contents, or of the payload of a job. */
export interface WaitingKeyRow {
  table: Exclude<DataKeyTable, 'accounts'>;
  id: string;
  environmentId: EnvironmentId;
  /** The generation of a client; null in the other tables, which have none. */
  generation: number | null;
  wrappedDataKey: Buffer;
}
