/** Work that the deployment repeats, in one instance at a time. */
export interface PeriodicJobRow {
  name: string;
  /** The time of the next run, in milliseconds UTC. */
  nextAt: number;
  /** The number of the instance that is running it. */
  holder: number | null;
}
