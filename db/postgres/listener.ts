import { POSTGRES } from '../../core/budgets.ts';
import { startTimer } from '../../core/scheduling/timers.ts';
import type { Session } from './session.ts';

/** A connection on which the server reports that some process has changed settings. */
export interface Listener {
  /** A number that is higher after each notification, and after a time in which notifications may have been missed. */
  version(): number;
  close(): Promise<void>;
}

/** The channel on which the triggers of 0012_settings_changed.sql notify. */
const CHANNEL = 'valetkey_settings';

/**
 * Listens on its own connection, which is opened again after it was lost. Notifications only make a change known
 * sooner: caches expire without them. Behind a connection pool it does not listen, because notifications would be sent
 * to any client of the pool.
 *
 * @param open connects to the server
 * @param report receives the reason why it cannot listen, once until it works again
 */
export function createListener(open: () => Promise<Session>, report: (error: unknown) => void): Listener {
  let version = 0;
  let current: Session | undefined;
  let isReported = false;
  let isClosing = false;

  async function listen(): Promise<void> {
    // If the other end of a connection has disappeared, the connection fails only when something is sent on it.
    if (current?.isOpen()) return void (await current.query({ text: 'select 1' }));
    current = await open();
    if (!(await current.isDirect()))
      throw new Error(
        'a connection pool is between this server and PostgreSQL: set DATABASE_LISTEN_URL to a direct address',
      );
    current.onNotification(() => {
      version++;
    });
    await current.query({ text: `listen ${CHANNEL}` });
    version++;
    isReported = false;
  }

  async function listenOrReport(): Promise<void> {
    try {
      await listen();
    } catch (error) {
      await current?.close().catch(() => {});
      if (!isReported && !isClosing) report(error);
      isReported = true;
    }
  }

  const timer = startTimer(listenOrReport, { everyMs: POSTGRES.listenCheckMs, failed: report });
  timer.soon(0);
  return {
    version: () => version,
    async close() {
      isClosing = true;
      await timer.stop();
      await current?.close().catch(() => {});
    },
  };
}
