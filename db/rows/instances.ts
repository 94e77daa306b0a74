/** A process that serves the database. */
export interface InstanceRow {
  number: number;
  id: string;
  version: string;
  startedAt: number;
  beatAt: number;
  /** The number of the newest migration that its program knows. */
  schemaNumber: number;
}

export type NewInstance = Omit<InstanceRow, 'number' | 'schemaNumber'>;
