import type { Server } from 'node:http';
import type { ReportFailure } from '../../core/scheduling/background.ts';
import { startTimer } from '../../core/scheduling/timers.ts';
import type { ClientSocket } from './client-socket.ts';

/** Times in milliseconds. */
export interface WatchLimits {
  /** The maximum time from the start of a connection to the first byte that its client sends. */
  firstByteMs: number;
  /** How long a client may read nothing while bytes are queued for it. */
  stalledMs: number;
  /** The maximum number of bytes that are queued for all clients together. */
  queuedBytes: number;
  /** How often connections are checked. */
  watchEveryMs: number;
}

interface Watched {
  openedAt: number;
  /** Since when bytes have been queued for the client; undefined if there are none. */
  queuedSince: number | undefined;
}

export interface ConnectionWatch {
  /** Connections that are open now. */
  readonly open: number;
  /** Bytes that were queued for clients at the last check. */
  readonly queuedBytes: number;
}

/**
 * Closes connections whose clients send nothing or read nothing (threat S2). It also limits the bytes that wait for
 * clients: beyond the limit, it closes the connections whose bytes have waited longest.
 *
 * @param failed receives the error if the connections could not be examined
 * @param clock milliseconds; only differences are used
 */
export function watchConnections(
  server: Server,
  limits: WatchLimits,
  failed: ReportFailure,
  clock: () => number = () => performance.now(),
): ConnectionWatch {
  const open = new Map<ClientSocket, Watched>();
  let queued = 0;

  server.on('connection', (socket: ClientSocket) => {
    open.set(socket, { openedAt: clock(), queuedSince: undefined });
    socket.once('close', () => open.delete(socket));
  });

  function look(): void {
    const now = clock();
    queued = 0;
    for (const [socket, watched] of open) {
      if (socket.bytesRead === 0 && now - watched.openedAt >= limits.firstByteMs) socket.destroy();
      else queued += lookAt(socket, watched, now);
    }
    if (queued > limits.queuedBytes) cutLongest();
  }

  /** @returns the bytes that are queued for the client */
  function lookAt(socket: ClientSocket, watched: Watched, now: number): number {
    const bytes = socket.writableLength;
    if (bytes > 0 && watched.queuedSince === undefined) {
      watched.queuedSince = now;
      // Node restarts this timeout whenever the client reads, and closes the connection when it ends.
      socket.setTimeout(limits.stalledMs);
    } else if (bytes === 0 && watched.queuedSince !== undefined) {
      watched.queuedSince = undefined;
      // After a response Node has set the keep-alive timeout, which must not be changed.
      if (socket.timeout === limits.stalledMs) socket.setTimeout(0);
    }
    return bytes;
  }

  function cutLongest(): void {
    const waiting = [...open].filter(([, { queuedSince }]) => queuedSince !== undefined);
    waiting.sort(([, a], [, b]) => (a.queuedSince ?? 0) - (b.queuedSince ?? 0));
    for (const [socket] of waiting) {
      if (queued <= limits.queuedBytes) return;
      queued -= socket.writableLength;
      socket.destroy();
    }
  }

  const timer = startTimer(look, { everyMs: limits.watchEveryMs, failed });
  server.once('close', () => void timer.stop());
  return {
    get open() {
      return open.size;
    },
    get queuedBytes() {
      return queued;
    },
  };
}
