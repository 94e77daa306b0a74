import type { Progress, ServerContext } from '@modelcontextprotocol/server';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { type BoundCall, type ConnectState, openConnectState } from './connect-state.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

/**
 * Returns the signal that is aborted when the client cancels the request. If the client asked for progress, also
 * returns a function that sends it progress notifications.
 */
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
  const message = 'The requestState is invalid or expired. Send the request again without it.';
  throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message, reason);
}

/** Runs a handler and rethrows its errors. Errors that are not protocol errors are logged; clients see no details. */
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
