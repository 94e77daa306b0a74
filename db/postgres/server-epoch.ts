import type { Session } from './session.ts';

/** A connection that knows in which epoch of the server it was opened. A crash ends an epoch; a clean restart does not. */
export interface EpochSession extends Session {
  epoch: string;
}

const EPOCH = `insert into server_lives (life) values (gen_random_uuid()) on conflict do nothing;
  select life from server_lives`;

/** Makes a function that connects to a server, and asks for its epoch. */
export function withEpoch(open: () => Promise<Session>): () => Promise<EpochSession> {
  return async () => {
    const session = await open();
    try {
      const { rows } = await session.query({ text: EPOCH });
      return Object.assign(session, { epoch: String(rows[0]?.[0]) });
    } catch (error) {
      await session.close().catch(() => {});
      throw error;
    }
  };
}
