import { openSession, type Session } from './session.ts';

const NAME = 'vk_check';

/**
 * Returns whether each connection has its own prepared statements. A connection pool that does not support them may
 * show the statement of one client to another.
 *
 * @param location `postgres://…`
 * @throws StorageError if no connection can be opened
 */
export async function separatesPreparedStatements(location: string): Promise<boolean> {
  const sessions: Session[] = [];
  try {
    const first = await openSession(location);
    sessions.push(first);
    const second = await openSession(location);
    sessions.push(second);
    return await isApart(first, second);
  } finally {
    await Promise.all(sessions.map((session) => session.close().catch(() => {})));
  }
}

async function isApart(first: Session, second: Session): Promise<boolean> {
  try {
    await first.query({ name: NAME, text: 'select 1::bigint', values: [] });
    const { rows } = await second.query({ name: NAME, text: 'select 2::bigint', values: [] });
    return rows[0]?.[0] === 2;
  } catch {
    // The name is already in use, or the statement was prepared on another connection.
    return false;
  }
}
