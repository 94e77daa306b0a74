/** Which database is used, and how it is replicated, for operators. */
export interface DatabaseState {
  /** The name of the engine, lower case. */
  engine: string;
  /**
   * `standby` if the database accepts no writes because it copies another one; null if its server cannot be reached. A
   * file is always a primary.
   */
  role: 'primary' | 'standby' | null;
  /** The standby that lists are read from; null if there is none. */
  replica: ReplicaState | null;
  /** The standbys that copy this database, as far as Valetkey's database role is allowed to see them. */
  standbys: StandbyState[];
}

export interface ReplicaState {
  /** False while lists are read from the primary, because the replica is unreachable or too far behind. */
  isUsed: boolean;
  /** How far it is behind, in milliseconds; null if it cannot be asked. */
  lagMs: number | null;
}

export interface StandbyState {
  /** The `application_name` of its connection. */
  name: string;
  /** The bytes of the write-ahead log that it has not applied yet. */
  lagBytes: number;
}
