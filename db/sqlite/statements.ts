import type Database from 'better-sqlite3';
import { StorageError } from '../errors.ts';
import type { Plan, Values } from '../plan.ts';
import { createStatements, type Statement, type Statements } from '../statements.ts';
import { sqliteDialect } from './dialect.ts';
import { translateError } from './errors.ts';
import type { Client } from './open.ts';

/**
 * The statements of one connection, or of several that take turns. SQLite runs on the event loop, so the promises are
 * already settled when they are returned, and callers continue in the same turn. The group commit relies on this.
 *
 * @param client returns the connection to use now
 * @param failed receives each StorageError
 */
export function createSqliteStatements(
  client: () => Client,
  failed: (error: StorageError) => void = () => {},
): Statements {
  return createStatements({ dialect: sqliteDialect, prepare: (plan) => prepare(client, plan, failed) });
}

/**
 * Casts the limit of a statement. If the limit is only a parameter, SQLite plans some statements for its value, and
 * prepares them again each time a value is bound. That takes five times as long as finding a row.
 */
function plannedOnce(text: string): string {
  return text.replaceAll(' limit ?', ' limit cast(? as integer)');
}

function prepare(client: () => Client, { text, bind, toRow }: Plan, failed: (error: StorageError) => void): Statement {
  const prepared = new Map<Client, Database.Statement<unknown[], unknown[]>>();
  const statement = () => {
    const current = client();
    const known = prepared.get(current);
    if (known) return known;
    const made = current.prepare<unknown[], unknown[]>(plannedOnce(text));
    if (toRow) made.raw();
    prepared.set(current, made);
    return made;
  };
  const decode = toRow as (stored: unknown[]) => Values;
  const translated = (error: unknown): unknown => {
    const translation = translateError(error);
    if (translation instanceof StorageError) failed(translation);
    return translation;
  };
  // Asynchronous functions without `await`, so that an exception becomes a rejection.
  return {
    async run(values = {}) {
      try {
        return statement().run(bind(values));
      } catch (error) {
        throw translated(error);
      }
    },
    async get(values = {}) {
      try {
        const row = statement().get(bind(values));
        return row && decode(row);
      } catch (error) {
        throw translated(error);
      }
    },
    async all(values = {}) {
      try {
        return statement().all(bind(values)).map(decode);
      } catch (error) {
        throw translated(error);
      }
    },
  };
}
