import type { CheckLine } from '../../engine.ts';
import type { RunQuery } from '../statements.ts';

export type Result = Pick<CheckLine, 'state' | 'found'>;
export type Check = [name: string, run: (deps: CheckDeps) => Promise<Result>];

export interface CheckDeps {
  query: RunQuery;
  location: string;
  /** Milliseconds UTC. */
  now: () => number;
  /** The maximum number of connections that a Valetkey server opens. */
  connections: number;
  prepare: boolean;
}

export const ok = (found: string): Result => ({ state: 'ok', found });
export const warn = (found: string): Result => ({ state: 'warn', found });
export const fail = (found: string): Result => ({ state: 'fail', found });

/** Returns the values of settings of the database server. */
export async function settings(query: RunQuery, ...names: string[]): Promise<string[]> {
  const { rows } = await query({ text: `select ${names.map((name) => `current_setting('${name}')`).join(', ')}` });
  return (rows[0] as unknown[]).map(String);
}

/** Returns the first column of the rows of a query. */
export async function strings(query: RunQuery, text: string): Promise<string[]> {
  return (await query({ text })).rows.map(([value]) => String(value));
}
