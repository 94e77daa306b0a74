import { createReconnectingSession, type ReconnectingSession } from './reconnecting-session.ts';
import type { Query, QueryResult, Session } from './session.ts';

/** Connections that read committed data. Each can run any number of statements concurrently. */
export interface Readers {
  query(statement: Query): Promise<QueryResult>;
  close(): Promise<void>;
}

/** @param open connects to the server @param size the maximum number of connections */
export function createReaders(open: () => Promise<Session>, size: number): Readers {
  const connectors: ReconnectingSession[] = Array.from({ length: size }, () => createReconnectingSession(open));
  /** Returns the least busy connection. Another one is opened if all are busy. */
  const next = () => connectors.reduce((best, each) => (each.waiting() < best.waiting() ? each : best));
  return {
    async query(statement) {
      const session = await next().session();
      return await session.query(statement);
    },
    async close() {
      await Promise.all(connectors.map((connector) => connector.close()));
    },
  };
}
