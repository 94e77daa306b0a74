import { conflictOf } from './columns.ts';
import { and, eq, type SQL, type SQLWrapper, sql } from './drizzle.ts';
import { dataKeys } from './schema.ts';
import type { Statements } from './statements.ts';

/**
 * The wrapped data keys of rows of other tables, each in its own slot (a row of `data_keys`). Where the dialect reuses
 * slots, a slot never moves within the file and is overwritten in place. So a deleted or replaced data key cannot be
 * recovered, and data that was encrypted with it cannot be decrypted, even if a copy of the data is left somewhere.
 * When a row of another table is deleted, or gets another slot or none, a trigger wipes the slot that the row had.
 */
export interface DataKeys {
  /** Stores a wrapped data key and returns its slot, for the column `data_key` of the row that it belongs to. */
  add(wrapped: Buffer): Promise<number>;
  /** Replaces a wrapped data key by the same key wrapped again. Returns false if the slot does not contain `old`. */
  rewrap(slot: number, old: Buffer, wrapped: Buffer): Promise<boolean>;
  /** Wipes a slot that no row uses. */
  wipe(slot: number): Promise<void>;
}

const NOTHING = Buffer.alloc(0);
const given = (name: string) => sql.param(sql.placeholder(name), dataKeys.wrapped);
const isFree = sql`${dataKeys.used} = 0`;

export function createDataKeys({ db, once, dialect }: Statements): DataKeys {
  const insert = once(() => {
    const free = db.select({ slot: dataKeys.slot }).from(dataKeys).where(isFree).limit(1);
    const row = { used: 1 as const, wrapped: sql`${given('wrapped')}` };
    const inserting = dialect.reusesSlots
      ? db
          .insert(dataKeys)
          .values({ ...row, slot: sql`${free}` })
          .onConflictDoUpdate({ target: conflictOf(dataKeys.slot), set: { used: 1, wrapped: sql`excluded.wrapped` } })
      : db.insert(dataKeys).values(row);
    return inserting.returning({ slot: dataKeys.slot }).prepare();
  });
  const rewrap = once(() =>
    db
      .update(dataKeys)
      .set({ wrapped: sql`${given('wrapped')}` })
      .where(and(eq(dataKeys.slot, sql.placeholder('slot')), eq(dataKeys.wrapped, given('old'))))
      .prepare(),
  );
  const wipe = once(() => {
    const its = eq(dataKeys.slot, sql.placeholder('slot'));
    return dialect.reusesSlots
      ? db.update(dataKeys).set({ used: 0, wrapped: NOTHING }).where(its).prepare()
      : db.delete(dataKeys).where(its).prepare();
  });
  return {
    async add(wrapped) {
      const { slot } = (await insert().get({ wrapped })) as { slot: number };
      return slot;
    },
    async rewrap(slot, old, wrapped) {
      return (await rewrap().run({ slot, old, wrapped })).changes === 1;
    },
    async wipe(slot) {
      await wipe().run({ slot });
    },
  };
}

/** Selects the wrapped data key in the slot that a column names; null if it names none. */
export function wrappedDataKeyIn(slot: SQLWrapper): SQL<Buffer | null> {
  const wrapped = sql<Buffer | null>`(select ${dataKeys.wrapped} from ${dataKeys} where ${dataKeys.slot} = ${slot})`;
  return wrapped.mapWith(dataKeys.wrapped) as SQL<Buffer | null>;
}
