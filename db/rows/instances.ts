/** A server process that uses the database. */
export interface InstanceRow {
  number: number;
  id: string;
  version: string;
  startedAt: number;
  beatAt: number;
  /** The number of the newest migration that its program knows. */
  schemaNumber: number;
  /** The ids of the encryption keys that it has, the active one first; none for a program that does not report them. */
  keys: string[];
}

export type NewInstance = Omit<InstanceRow, 'number' | 'schemaNumber' | 'keys'> & { keys?: string[] };
