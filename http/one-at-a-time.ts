import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientSocket } from './client-socket.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** The requests of one connection. */
interface Line {
  waiting: { req: IncomingMessage; res: ServerResponse }[];
  isBusy: boolean;
}

/**
 * Serves the requests of a connection one after the other, although clients may pipeline them (RFC 9112 §9.3.2): the next one
 * begins when the response before it has been taken. So a client that sends and does not read has one response in memory. While
 * requests wait, nothing more is read; a connection with too many of them is closed.
 *
 * @param maxWaiting requests that may wait on one connection
 */
export function oneAtATime(listener: Listener, maxWaiting: number): Listener {
  const lines = new WeakMap<object, Line>();

  function begin(line: Line, req: IncomingMessage, res: ServerResponse): void {
    line.isBusy = true;
    res.once('close', () => next(line, req));
    listener(req, res);
  }

  function next(line: Line, { socket }: IncomingMessage): void {
    const waiting = line.waiting.shift();
    line.isBusy = waiting !== undefined;
    if (line.waiting.length > 0) pauseSoon(line, socket);
    else if (socket.isPaused()) socket.resume();
    if (waiting !== undefined && !socket.destroyed) begin(line, waiting.req, waiting.res);
  }

  /** Node resumes a connection at the end of each message that it has read. */
  function pauseSoon(line: Line, socket: ClientSocket): void {
    setImmediate(() => {
      if (line.waiting.length > 0) socket.pause();
    });
  }

  return (req, res) => {
    const { socket } = req;
    let line = lines.get(socket);
    if (line === undefined) {
      line = { waiting: [], isBusy: false };
      lines.set(socket, line);
    }
    if (!line.isBusy) begin(line, req, res);
    else if (line.waiting.length >= maxWaiting) socket.destroy();
    else {
      line.waiting.push({ req, res });
      pauseSoon(line, socket);
    }
  };
}
