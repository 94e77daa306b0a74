import type { Session } from './session.ts';

const READ_ONLY = 'set default_transaction_read_only = on';

/**
 * Makes a function that connects to a server, so that the connection can only read outside of transactions that begin as READ WRITE. If
 * a BEGIN is canceled, the server executes each statement that was sent after it, and they must change nothing. The connections of a pool
 * stay as they are, because the pool passes them to others.
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
