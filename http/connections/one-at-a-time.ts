import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientSocket } from './client-socket.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** The waiting requests of one connection. */
interface Line {
  readonly socket: ClientSocket;
  readonly waiting: { req: IncomingMessage; res: ServerResponse }[];
  isBusy: boolean;
  /** Begins the next request. It is the `close` listener of every response of the connection. */
  readonly next: () => void;
}

/**
 * Handles the pipelined requests of a connection (RFC 9112 §9.3.2) one after the other: the next one starts when the
 * operating system has accepted the whole previous response. So a client that does not read has only one response in
 * the memory of this process. While requests wait, nothing more is read from the connection; a connection with too many
 * waiting requests is closed.
 *
 * @param maxWaiting the maximum number of requests that wait on one connection
 */
export function oneAtATime(listener: Listener, maxWaiting: number): Listener {
  const lines = new WeakMap<object, Line>();

  function begin(line: Line, req: IncomingMessage, res: ServerResponse): void {
    line.isBusy = true;
    res.on('close', line.next);
    listener(req, res);
  }

  function next(line: Line): void {
    const { socket } = line;
    const waiting = line.waiting.shift();
    line.isBusy = waiting !== undefined;
    if (line.waiting.length > 0) pauseSoon(line, socket);
    else if (socket.isPaused()) socket.resume();
    if (waiting !== undefined && !socket.destroyed) begin(line, waiting.req, waiting.res);
  }

  /** Pauses the connection again, because Node resumes it after each message. */
  function pauseSoon(line: Line, socket: ClientSocket): void {
    setImmediate(() => {
      if (line.waiting.length > 0) socket.pause();
    });
  }

  return (req, res) => {
    const { socket } = req;
    let line = lines.get(socket);
    if (line === undefined) {
      const opened: Line = { socket, waiting: [], isBusy: false, next: () => next(opened) };
      line = opened;
      lines.set(socket, line);
    }
    if (!line.isBusy) begin(line, req, res);
    else if (line.waiting.length >= maxWaiting) {
      stopParsing(socket);
      socket.destroy();
    } else {
      line.waiting.push({ req, res });
      pauseSoon(line, socket);
    }
  };
}

/**
 * Ends the parsing of the bytes that a connection has received. Node would otherwise make objects for all requests in
 * them, thousands for each connection, and keep them until the connection is closed in a later phase of the event loop.
 * Node has no public interface for this; in a version that lacks these members, the function has no effect.
 */
function stopParsing(socket: ClientSocket & { parser?: { onIncoming?: unknown } | null }): void {
  // The parser reads nothing after a message for which this callback returns 2 ("upgrade").
  if (socket.parser?.onIncoming) socket.parser.onIncoming = () => 2;
}
