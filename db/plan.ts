import { is, Param, Placeholder, showAsStored } from './drizzle.ts';

/** The values of a statement's placeholders, by name. */
export type Values = Record<string, unknown>;

/** A statement of the query builder, with everything that an engine needs to run it repeatedly. */
export interface Plan {
  /** The SQL text in the dialect of the engine. */
  text: string;
  /** Returns the parameters in order. @throws Error if a placeholder has no value */
  bind(values: Values): unknown[];
  /** Converts the stored values of a row, in order, to an object; null if the statement returns no rows. */
  toRow: ((stored: readonly unknown[]) => Values) | null;
}

/** A statement as the query builder passes it to its session. */
export interface Built {
  sql: string;
  params: unknown[];
}

export interface BuiltField {
  path: string[];
  /** A column, an expression, or an expression with a name. */
  field: Decoder | { decoder: Decoder } | { sql: { decoder: Decoder } };
}

/** Converts a stored value. */
type Decode = (value: unknown) => unknown;
type Decoder = { mapFromDriverValue: Decode };

/**
 * Prepares the binding and decoding of a statement once. The query builder itself would examine each parameter at each
 * execution, along its prototype chain, and map rows as if they could be nested. For one row of a wide table, that
 * would take half as long as the query itself.
 */
export function createPlan({ sql, params }: Built, fields: BuiltField[] | undefined): Plan {
  return { text: sql, bind: createBind(params), toRow: fields ? createToRow(fields) : null };
}

function createBind(params: readonly unknown[]): Plan['bind'] {
  const steps = params.map((param) => {
    if (is(param, Placeholder)) return { name: param.name };
    if (is(param, Param) && is(param.value, Placeholder)) {
      const { encoder } = param;
      return { name: param.value.name, encode: (value: unknown) => encoder.mapToDriverValue(value) };
    }
    return { constant: param };
  });
  return (values) =>
    steps.map(({ name, encode, constant }) => {
      if (name === undefined) return constant;
      const value = values[name];
      if (value === undefined && !(name in values)) throw new Error(`no value for the placeholder ${name}`);
      return encode ? encode(value) : value;
    });
}

function createToRow(fields: readonly BuiltField[]): NonNullable<Plan['toRow']> {
  const plan = fields.map(({ path, field }) => {
    if (path.length > 1) throw new Error(`a selection cannot have nested fields (${path.join('.')})`);
    return { name: path[0] as string, decode: decoderOf(field) };
  });
  // A copied object is filled, because adding names one by one takes four times as long.
  const empty = Object.fromEntries(plan.map(({ name }) => [name, null]));
  return (stored) => {
    const row: Values = { ...empty };
    let place = 0;
    for (const { name, decode } of plan) {
      const value = stored[place++];
      row[name] = decode === null || value === null ? value : decode(value);
    }
    return row;
  };
}

/** Returns the conversion of a field; null if the stored value is used unchanged. */
function decoderOf(field: BuiltField['field']): Decode | null {
  const decoder = 'mapFromDriverValue' in field ? field : 'decoder' in field ? field.decoder : field.sql.decoder;
  return decoder.mapFromDriverValue === showAsStored ? null : (value) => decoder.mapFromDriverValue(value);
}
