import Database from 'better-sqlite3';
import { seed } from '../../seed.ts';

/** Runs SQL on a data directory that a server has created and closed. */
export async function fill(env: Record<string, string>, sql: string): Promise<void> {
  await seed(env, 0);
  const database = new Database(`${env['DATA_DIR']}/valetkey.db`);
  database.exec(sql);
  database.close();
}

/** Begins a statement with the numbers from 1. */
export const numbers = (count: number) =>
  `with recursive n(at) as (select 1 union all select at + 1 from n where at < ${count})`;

/** Inserts executions of seven connectors and fifty tools. */
export const executions = (count: number, startedAt: number) => `${numbers(count)}
  insert into executions (id, environment_id, account_id, connector, tool_name, agent_run_id, api_client_id, instance, status, started_at, finished_at)
  select 'exec_' || at, (select id from environments), null, 'c' || (at % 7), 't' || (at % 50), null, 'client', 0,
    case when at % 1000 = 0 then 'FAILED' else 'SUCCEEDED' end, ${startedAt} + at, ${startedAt} + at from n;`;
