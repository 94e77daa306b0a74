import type { DatabaseState, StandbyState } from '../database-state.ts';
import { StorageError } from '../errors.ts';
import type { Replica } from './replica.ts';
import type { RunQuery } from './statements.ts';

/**
 * Leaves out backups, whose state is not `streaming`, and rows whose positions are hidden because the role is not a
 * member of `pg_monitor`.
 */
const STANDBYS = `select application_name, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint
  from pg_stat_replication where state = 'streaming' and replay_lsn is not null order by 1 limit 100`;

/** Asks the server for its state. Never rejects. */
export async function readState(query: RunQuery, replica: Pick<Replica, 'state'> | undefined): Promise<DatabaseState> {
  const [role, standbys] = await Promise.all([roleOf(query), standbysOf(query)]);
  return { engine: 'postgres', role, replica: replica?.state() ?? null, standbys };
}

async function roleOf(query: RunQuery): Promise<DatabaseState['role']> {
  try {
    const { rows } = await query({ text: 'select pg_is_in_recovery()' });
    return rows[0]?.[0] === true ? 'standby' : 'primary';
  } catch (error) {
    // The host was reached, but new connections are only opened to a primary.
    return error instanceof StorageError && error.code === 'STANDBY' ? 'standby' : null;
  }
}

async function standbysOf(query: RunQuery): Promise<StandbyState[]> {
  try {
    const { rows } = await query({ text: STANDBYS });
    return rows.map(([name, lagBytes]) => ({ name: String(name), lagBytes: Math.max(0, Number(lagBytes)) }));
  } catch {
    return [];
  }
}
