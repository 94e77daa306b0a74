import { POSTGRES } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import type { Session } from './session.ts';

/** Manages one connection, which is opened when it is first needed and again after it was lost. */
export interface ReconnectingSession<S extends Session = Session> {
  /** @throws StorageError if there is no connection and none can be opened */
  session(): Promise<S>;
  /** Returns how many statements are waiting for a reply. */
  waiting(): number;
  close(): Promise<void>;
}

export function createReconnectingSession<S extends Session>(open: () => Promise<S>): ReconnectingSession<S> {
  let current: S | undefined;
  let opening: Promise<S> | undefined;
  let openers = 0;
  let failure: { error: StorageError; until: number } | undefined;
  let closed = false;

  async function connect(): Promise<S> {
    try {
      const session = await open();
      failure = undefined;
      if (closed) {
        await session.close();
        throw new StorageError('STORE_CLOSED', 'the store is closed');
      }
      current = session;
      return session;
    } catch (error) {
      // While the server cannot be reached, requests fail immediately instead of each waiting for a connection.
      if (error instanceof StorageError) failure = { error, until: performance.now() + POSTGRES.reconnectMs };
      throw error;
    } finally {
      opening = undefined;
    }
  }

  return {
    async session() {
      if (current?.isOpen()) return current;
      if (closed) throw new StorageError('STORE_CLOSED', 'the store is closed');
      if (failure && performance.now() < failure.until) throw failure.error;
      openers++;
      try {
        opening ??= connect();
        return await opening;
      } finally {
        openers--;
      }
    },
    waiting: () => openers + (current?.isOpen() ? current.waiting : 0),
    async close() {
      closed = true;
      await opening?.catch(() => {});
      await current?.close();
    },
  };
}
