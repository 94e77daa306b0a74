import type { DirectCall } from './direct-call.ts';

/** Keeps the running calls that bypass the MCP SDK, so that their clients can cancel them. */
export interface RunningCalls {
  /** Registers a call. @returns its signal, `cancel`, which aborts the signal, and `end`, to call when it has ended */
  begin(call: Pick<DirectCall, 'id' | 'sessionId'>): { signal: AbortSignal; cancel(): void; end(): void };
  /** Cancels the calls of a session that have this request id, because the client has asked for it. */
  cancel(sessionId: string, id: unknown): void;
  /** Cancels all calls of a session. */
  endSession(sessionId: string): void;
  /** Cancels all calls. */
  close(): void;
}

interface Running {
  id: DirectCall['id'];
  sessionId: string | undefined;
  controller: AbortController;
}

export function createRunningCalls(): RunningCalls {
  const running = new Set<Running>();

  function abort(matches: (call: Running) => boolean): void {
    for (const call of running) if (matches(call)) call.controller.abort();
  }

  return {
    begin({ id, sessionId }) {
      const controller = new AbortController();
      const call = { id, sessionId, controller };
      running.add(call);
      return { signal: controller.signal, cancel: () => controller.abort(), end: () => void running.delete(call) };
    },
    cancel: (sessionId, id) => abort((call) => call.sessionId === sessionId && call.id === id),
    endSession: (sessionId) => abort((call) => call.sessionId === sessionId),
    close: () => abort(() => true),
  };
}
