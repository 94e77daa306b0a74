import { ApiError } from '../../errors.ts';
import type { Cause } from '../../events/events.ts';
import { askToConnect, type ConnectRequest } from '../ask-to-connect.ts';
import type { CallDeps } from '../call-tool.ts';
import { accountKeyOf } from '../connect-account.ts';
import type { ConnectState } from '../connect-state.ts';
import type { McpMapping } from '../server-definition.ts';
import type { McpSession } from '../session.ts';
import type { CallWatch } from '../upstream/call.ts';
import type { Content } from '../upstream/content-results.ts';
import { waitForAccount } from '../wait-for-account.ts';
import { type ContentRequest, readContent } from './read-content.ts';
import { usableAccount } from './usable-account.ts';

export interface ClientContentRequest extends ContentRequest {
  watch: CallWatch & { signal: AbortSignal };
  /** The link that the client received earlier, if it repeats the request to get the result. */
  earlierLink: ConnectState | null;
}

/**
 * Reads a resource or a prompt for the user of a session, or returns the link that the user must open first.
 *
 * @throws ApiError as `usableAccount` and `readContent`, except errors that a link resolves; ACCOUNT_NOT_ACTIVE if no
 * link can be created
 */
export async function contentOrLink(
  deps: CallDeps,
  session: McpSession,
  mapping: McpMapping,
  request: ClientContentRequest,
): Promise<{ kind: 'content'; content: Content } | ConnectRequest> {
  const { connection } = mapping;
  const { earlierLink, watch } = request;
  const cause: Cause = {
    environmentId: session.environment.id,
    actor: session.grant.clientId,
    requestId: session.requestId,
  };
  if (earlierLink) await waitForAccount(deps, session, accountKeyOf(session, connection), watch.signal);
  const account = await usableAccount(deps, session, connection, cause);
  let action: string | undefined;
  try {
    if (account) return { kind: 'content', content: await readContent(deps, session, mapping, account, request) };
  } catch (error) {
    action = linkAction(error);
    if (action === undefined) throw error;
  }
  const asked = await askToConnect(deps, session, connection, { cause, earlierLink, hasAccount: !!account, action });
  if (asked instanceof ApiError) throw asked;
  return asked;
}

/** Returns the type of the `next_action` of an error that a link resolves; undefined for other errors. */
function linkAction(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.code !== 'ACCOUNT_NOT_ACTIVE') return undefined;
  const { type, operation_id: operation } = (error.extra?.['next_action'] ?? {}) as Record<string, string>;
  return operation === 'generateMagicLink' ? type : undefined;
}
