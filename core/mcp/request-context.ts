import type { Progress, ServerContext } from '@modelcontextprotocol/server';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { type BoundCall, type ConnectState, openConnectState } from './connect-state.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

/** Returns the signal of a cancellation, and a function that forwards progress if the client asked for it. */
export function watchOf({ mcpReq }: ServerContext) {
  const { signal } = mcpReq;
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { signal };
  const onProgress = (progress: Progress) => {
    // The call continues even if the client does not accept the notification.
    mcpReq.notify({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(() => {});
  };
  return { signal, onProgress };
}

export function readState(
  sdk: Sdk,
  sealed: SealedTokens,
  bound: BoundCall,
  { mcpReq }: ServerContext,
): ConnectState | null {
  const text = mcpReq.requestState<string>();
  if (text === undefined) return null;
  const state = openConnectState(sealed, bound, text);
  if (state) return state;
  const reason = { reason: 'invalid_request_state' };
  throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', reason);
}

/** Logs errors that are not protocol errors; the client gets an internal error. */
export async function logged<T>(
  sdk: Sdk,
  { log }: { log: { error(fields: object, message: string): void } },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (err) {
    if (!(err instanceof sdk.ProtocolError)) log.error({ err }, 'MCP request failed');
    throw err;
  }
}
