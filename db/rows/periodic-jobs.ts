/** Work that one instance of the deployment does again and again. */
export interface PeriodicJobRow {
  name: string;
  /** Milliseconds UTC. */
  nextAt: number;
  /** The number of the instance that is doing it. */
  holder: number | null;
}
