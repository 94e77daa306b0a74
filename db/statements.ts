import type { Dialect } from './dialect.ts';
import { type PreparedQuery, type Queries, QueryBuilder, QueryDialect, QuerySession } from './drizzle.ts';
import { type Built, type BuiltField, createPlan, type Plan, type Values } from './plan.ts';

/** How many rows a statement has changed. */
export interface Changes {
  changes: number;
}

/** A statement on one connection of an engine. Its errors are those of `errors.ts`, not those of a driver. */
export interface Statement {
  run(values?: Values): Promise<Changes>;
  /** The first row. */
  get(values?: Values): Promise<Values | undefined>;
  all(values?: Values): Promise<Values[]>;
}

/** One connection of an engine, as the repositories need it. */
export interface Connection {
  dialect: Dialect;
  /** Throws nothing: a statement that the database does not accept fails when it is run. */
  prepare(plan: Plan): Statement;
}

/** Typed queries. One that is built runs on the connection; one that is prepared can be run again. */
export type Db = Queries<'async', Changes>;

/** What a repository is made of. */
export interface Statements {
  db: Db;
  dialect: Dialect;
  /** A prepared statement, made at the first call and kept: making one costs a hundred times its execution. */
  once<S>(prepare: () => S): () => S;
  /** Like `once`, for statements whose text depends on which filters or columns a call names. */
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

/** Where the builder expects a driver, its statements are planned and handed to the engine. */
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
