/** A process that serves the database. */
export interface InstanceRow {
  number: number;
  id: string;
  version: string;
  startedAt: number;
  beatAt: number;
}

export type NewInstance = Omit<InstanceRow, 'number'>;
