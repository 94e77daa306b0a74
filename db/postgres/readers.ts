import { type Connector, createConnector } from './connector.ts';
import type { Question, Reply, Session } from './session.ts';

/** Connections that read committed data. Each can run any number of statements concurrently. */
export interface Readers {
  ask(question: Question): Promise<Reply>;
  close(): Promise<void>;
}

/** @param open connects to the server @param size the maximum number of connections */
export function createReaders(open: () => Promise<Session>, size: number): Readers {
  const connectors: Connector[] = Array.from({ length: size }, () => createConnector(open));
  /** Returns the least busy connection. Another one is opened if all are busy. */
  const next = () => connectors.reduce((best, each) => (each.waiting() < best.waiting() ? each : best));
  return {
    async ask(question) {
      const session = await next().session();
      return await session.ask(question);
    },
    async close() {
      await Promise.all(connectors.map((connector) => connector.close()));
    },
  };
}
