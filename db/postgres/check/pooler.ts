import { openSession } from '../session.ts';
import { type CheckTools, fail, ok, type Result } from './tools.ts';

const NAME = 'vk_check';

/**
 * Checks whether prepared statements keep their names apart: a connection pool that does not support them may show the
 * statement of one client to another.
 */
export async function checkPooler({ location, prepare }: CheckTools): Promise<Result> {
  if (!prepare) return ok('off (DATABASE_PREPARE)');
  const [first, second] = [await openSession(location), await openSession(location)];
  try {
    await first.query({ name: NAME, text: 'select 1::bigint', values: [] });
    const { rows } = await second.query({ name: NAME, text: 'select 2::bigint', values: [] });
    if (rows[0]?.[0] === 2) return ok('each connection has its own');
  } catch {
    // The pool knows the name, or has lost the statement.
  } finally {
    await Promise.all([first, second].map((session) => session.close().catch(() => {})));
  }
  return fail('a connection pool mixes up prepared statements: set DATABASE_PREPARE=off');
}
