import type { Session } from './session.ts';

const READ_ONLY = 'set default_transaction_read_only = on';

/**
 * Returns a function that opens a connection with `open` and makes it read-only, except in transactions that begin as
 * READ WRITE. Statements are sent without waiting for the reply to BEGIN. If BEGIN is canceled, the server still
 * executes these statements, outside of a transaction, and then they must not change anything. Connections of a pool
 * are left unchanged, because the pool passes them to other clients.
 */
export function readOnlyOutside<S extends Session>(open: () => Promise<S>): () => Promise<S> {
  return async () => {
    const session = await open();
    try {
      if (await session.isDirect()) await session.query({ text: READ_ONLY });
      return session;
    } catch (error) {
      await session.close().catch(() => {});
      throw error;
    }
  };
}
