import { type Connector, createConnector } from './connector.ts';
import type { Question, Reply, Session } from './session.ts';

/** Connections that read what is committed. Each has any number of statements under way. */
export interface Readers {
  ask(question: Question): Promise<Reply>;
  close(): Promise<void>;
}

/**
 * @param open connects to the server
 * @param size the most connections
 */
export function createReaders(open: () => Promise<Session>, size: number): Readers {
  const connectors: Connector[] = Array.from({ length: size }, () => createConnector(open));
  /** The one with the least to do; another one is opened when all have something to do. */
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
