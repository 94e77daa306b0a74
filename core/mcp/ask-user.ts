import type { InputRequiredResult, McpRequestContext, Server, ServerContext } from '@modelcontextprotocol/server';
import { ApiError } from '../errors.ts';
import { declinedMessage } from './connect-messages.ts';
import type { ConnectState } from './connect-state.ts';

type Sdk = typeof import('@modelcontextprotocol/server');
type Capabilities = { elicitation?: { url?: object } } | undefined;

/** A link that a user must open before a call can run. */
export interface LinkRequest {
  link: ConnectState;
  /** Tells the user why the link must be opened. */
  message: string;
  requestId: string;
  /** Creates the encrypted state that a client of the revision 2026-07-28 returns when it repeats the call. */
  seal(): string;
}

/** The MCP client that made a call. */
export interface AskedClient {
  era: McpRequestContext['era'];
  server: Server;
  ctx: ServerContext;
}

const CONNECT = 'connect_account';

/**
 * Asks the user to open a link, if the client declares elicitation in URL mode (it can ask its user to open a URL).
 *
 * @returns the result that asks a client of the revision 2026-07-28 to open the link; undefined for a client without
 * URL elicitation, to which the caller sends an error with the link instead
 * @throws UrlElicitationRequiredError (-32042) for clients of the revision 2025-11-25 that can open links
 */
export function askToOpenLink(
  sdk: Sdk,
  { era, server, ctx }: AskedClient,
  { link, message, requestId, seal }: LinkRequest,
): InputRequiredResult | undefined {
  const { url } = link;
  const envelope = ctx.mcpReq.envelope as Record<string, Capabilities> | undefined;
  const declared =
    era === 'modern' ? envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY] : (server.getClientCapabilities() as Capabilities);
  if (declared?.elicitation?.url === undefined) return undefined;
  if (era === 'legacy') {
    throw new sdk.UrlElicitationRequiredError([{ mode: 'url', message, url, elicitationId: requestId }]);
  }
  const inputRequests = { [CONNECT]: sdk.inputRequired.elicitUrl({ message, url }) };
  return sdk.inputRequired({ inputRequests, requestState: seal() });
}

/**
 * Returns the error of a request whose user must open a link first. It contains the link, so that the model can show
 * it.
 *
 * @param failure the error of the call, if it was sent and failed; its code and its extra members other than
 * `next_action` are kept. Without it, the code is ACCOUNT_NOT_ACTIVE
 */
export function describeLink({ url, expiresAt }: ConnectState, message: string, failure?: ApiError): ApiError {
  const expires_at = new Date(expiresAt).toISOString();
  const next_action = { type: 'authorize', url, expires_at, message: `${message} ${url}` };
  return new ApiError(failure?.code ?? 'ACCOUNT_NOT_ACTIVE', message, { extra: { ...failure?.extra, next_action } });
}

/** Whether the user declined to open the link. */
export function wasDeclined({ mcpReq }: ServerContext): boolean {
  const answer = mcpReq.inputResponses?.[CONNECT] as { action?: unknown } | undefined;
  return answer?.action === 'decline' || answer?.action === 'cancel';
}

export function declined(provider: string): ApiError {
  const next_action = { type: 'authorize', message: 'Ask the user before you send the request again.' };
  return new ApiError('ACCOUNT_NOT_ACTIVE', declinedMessage(provider), { extra: { next_action } });
}
