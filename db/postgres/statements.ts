import { createHash } from 'node:crypto';
import type { Plan, Values } from '../plan.ts';
import { createStatements, type Statement, type Statements } from '../statements.ts';
import { postgresDialect } from './dialect.ts';
import type { Query, QueryResult } from './session.ts';
import { toStored } from './values.ts';

/** Sends a statement on a connection that the function chooses. */
export type RunQuery = (statement: Query) => Promise<QueryResult>;

/**
 * Creates the statements for the connections behind `query`.
 *
 * @param prepare whether the server keeps prepared statements, which saves it a third of the work
 * @param mark a comment at the end of each statement
 */
export function createPostgresStatements(query: RunQuery, prepare: boolean, mark = ''): Statements {
  const marked = (plan: Plan) => ({ ...plan, text: `${plan.text}${mark}` });
  return createStatements({ dialect: postgresDialect, prepare: (plan) => statementOf(query, marked(plan), prepare) });
}

function statementOf(query: RunQuery, { text, bind, toRow }: Plan, prepare: boolean): Statement {
  const name = prepare ? nameOf(text) : undefined;
  const send = (values: Values) => query({ text, name, values: bind(values).map(toStored) });
  const decode = toRow as (stored: readonly unknown[]) => Values;
  return {
    async run(values = {}) {
      return { changes: (await send(values)).changes };
    },
    async get(values = {}) {
      const [row] = (await send(values)).rows;
      return row && decode(row);
    },
    async all(values = {}) {
      return (await send(values)).rows.map(decode);
    },
  };
}

const names = new Map<string, string>();

/**
 * The same text has the same name in every process, because a connection pool may pass the connection of one process to
 * another.
 */
export function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `vk_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    names.set(text, name);
  }
  return name;
}
