import type { Session } from './session.ts';

/** A connection that knows in which life of the server it was opened. A crash ends a life; a clean restart does not. */
export interface LivingSession extends Session {
  life: string;
}

const LIFE = `insert into server_lives (life) values (gen_random_uuid()) on conflict do nothing;
  select life from server_lives`;

/** Makes a function that connects to a server, and asks for its life. */
export function withLife(open: () => Promise<Session>): () => Promise<LivingSession> {
  return async () => {
    const session = await open();
    try {
      const { rows } = await session.query({ text: LIFE });
      return Object.assign(session, { life: String(rows[0]?.[0]) });
    } catch (error) {
      await session.close().catch(() => {});
      throw error;
    }
  };
}
