import { separatesPreparedStatements } from '../pooler.ts';
import { type CheckDeps, fail, ok, type Result } from './tools.ts';

export async function checkPooler({ location, prepare }: CheckDeps): Promise<Result> {
  if (!prepare) return ok('off (DATABASE_PREPARE)');
  if (await separatesPreparedStatements(location)) return ok('each connection has its own');
  return fail('a connection pool mixes up prepared statements: set DATABASE_PREPARE=off');
}
