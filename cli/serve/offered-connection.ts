import type { ChildProcess } from 'node:child_process';

/**
 * Closes the connection that the parent has offered to a process, if the process ends before it takes the connection.
 * Node's cluster offers each process one connection at a time, and closes the parent's copy when the process has
 * responded. Without a response, the client of the connection would wait forever.
 */
export function closeOfferedConnection(process: ChildProcess): void {
  const send = process.send as (message: unknown, handle?: unknown, ...rest: unknown[]) => boolean;
  let offered: { close(): void } | undefined;
  process.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
    if (isClosable(handle)) offered = handle;
    return send.call(process, message, handle, ...rest);
  };
  // A second call of `close` does nothing.
  process.once('exit', () => offered?.close());
}

function isClosable(handle: unknown): handle is { close(): void } {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
}
