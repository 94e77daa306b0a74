/** Work that one instance of the deployment repeats. */
export interface PeriodicJobRow {
  name: string;
  /** Milliseconds UTC. */
  nextAt: number;
  /** The number of the instance that is running it. */
  holder: number | null;
}
