import type { Session } from './session.ts';

/**
 * A connection that knows in which epoch of the server it was opened. A crash ends an epoch; a clean restart does not.
 */
export interface EpochSession extends Session {
  epoch: string;
  /**
   * A statement that fails with a ConflictError `SERVER_CRASHED` in another epoch. It is undefined for direct
   * connections, because only connections of a pool survive a crash of the server.
   */
  requireEpoch: string | undefined;
}

const EPOCH = `insert into server_lives (life) values (gen_random_uuid()) on conflict do nothing;
  select life from server_lives`;

const requireEpoch = (epoch: string) => `do $$ begin
  if not exists (select from server_lives where life = '${epoch}') then raise exception 'the server has crashed' using errcode = 'VK002'; end if;
  end $$`;

/** Returns a function that opens a connection with `open`, and reads the epoch of the server. */
export function withEpoch(open: () => Promise<Session>): () => Promise<EpochSession> {
  return async () => {
    const session = await open();
    try {
      const { rows } = await session.query({ text: EPOCH });
      const epoch = String(rows[0]?.[0]);
      return Object.assign(session, {
        epoch,
        requireEpoch: (await session.isDirect()) ? undefined : requireEpoch(epoch),
      });
    } catch (error) {
      await session.close().catch(() => {});
      throw error;
    }
  };
}
