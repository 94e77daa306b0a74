import type { Dialect } from './dialect.ts';
import { type PreparedQuery, type Queries, QueryBuilder, QueryDialect, QuerySession } from './drizzle.ts';
import { type Built, type BuiltField, createPlan, type Plan, type Values } from './plan.ts';

/** How many rows a statement has changed. */
export interface Changes {
  changes: number;
}

/** A statement of one connection. Its errors are those of `errors.ts`, not of a driver. */
export interface Statement {
  run(values?: Values): Promise<Changes>;
  /** The first row. */
  get(values?: Values): Promise<Values | undefined>;
  all(values?: Values): Promise<Values[]>;
}

/** One connection of an engine, as needed by the repositories. */
export interface Connection {
  dialect: Dialect;
  /** Does not throw: if the database rejects a statement, it fails when it is run. */
  prepare(plan: Plan): Statement;
}

/** Typed queries. A query can be run directly, or prepared and run repeatedly. */
export type Db = Queries<'async', Changes>;

/** What a repository needs to create its statements. */
export interface Statements {
  db: Db;
  dialect: Dialect;
  /** Prepares a statement at its first use and keeps it, because preparing takes a hundred times as long as running. */
  once<S>(prepare: () => S): () => S;
  /**
   * Prepares statements whose text depends on the filters or columns of a call, each at its first use, and keeps
   * them.
   */
  oncePerShape<S>(): (shape: string, prepare: () => S) => S;
}

export function createStatements(connection: Connection): Statements {
  const { dialect } = connection;
  return { db: createDb(connection), dialect, once, oncePerShape };
}

function once<S>(prepare: () => S): () => S {
  let prepared: S | undefined;
  return () => {
    prepared ??= prepare();
    return prepared;
  };
}

function oncePerShape<S>(): (shape: string, prepare: () => S) => S {
  const prepared = new Map<string, S>();
  return (shape, prepare) => {
    let statement = prepared.get(shape);
    if (statement === undefined) {
      statement = prepare();
      prepared.set(shape, statement);
    }
    return statement;
  };
}

function createDb({ dialect, prepare }: Connection): Db {
  const texts = new QueryDialect();
  texts.escapeParam = dialect.parameter;
  return new QueryBuilder('async', texts, new PlanningSession(texts, prepare), undefined) as Db;
}

/** Replaces the driver that the query builder expects: statements are planned and passed to the engine. */
class PlanningSession extends QuerySession<'async', Changes, Record<string, never>, Record<string, never>> {
  readonly #prepare: Connection['prepare'];

  constructor(texts: InstanceType<typeof QueryDialect>, prepare: Connection['prepare']) {
    super(texts);
    this.#prepare = prepare;
  }

  override prepareQuery(query: Built, fields: unknown) {
    return this.#prepare(createPlan(query, fields as BuiltField[] | undefined)) as unknown as PreparedQuery<never>;
  }

  override transaction(): never {
    throw new Error('a transaction begins with Store.write');
  }
}
