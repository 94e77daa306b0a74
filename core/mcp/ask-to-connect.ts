import type { ConnectionRow, Store } from '../../db/store.ts';
import type { CreateLinkDeps } from '../accounts/links/create-link.ts';
import { findProvider } from '../connections/providers.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import { linkFor } from './connect-account.ts';
import { cannotConnect, connectMessage, stillWaitingMessage } from './connect-messages.ts';
import type { ConnectState } from './connect-state.ts';
import type { McpSession } from './session.ts';

/**
 * The response to a request whose user must open a link first, for the reason in `message`. `waited` is true if the
 * client had already received the link and this request has waited for the user.
 */
export interface ConnectRequest {
  kind: 'connect';
  link: ConnectState;
  message: string;
  waited: boolean;
  /** The error of a call that failed because the account lacks a scope. */
  failure?: ApiError | undefined;
}

interface Reason {
  cause: Cause;
  /** The link that the client received earlier. */
  earlierLink: ConnectState | null;
  /** Whether the user already had an account of the connection when the request began. */
  hasAccount: boolean;
  /** The type of the `next_action` in the account's error. */
  action?: string | undefined;
  /** The error of a call that failed because the account lacks a scope. */
  failure?: ApiError | undefined;
}

/**
 * Creates the link by which the user of a session connects an account of a connection, or returns the link that the
 * client already has.
 *
 * @returns the link request, or an error if no link can be created; the error says who must act
 */
export async function askToConnect(
  deps: CreateLinkDeps & { store: Store; catalogue: Catalogue },
  session: McpSession,
  connection: ConnectionRow,
  { cause, earlierLink, hasAccount, action, failure }: Reason,
): Promise<ConnectRequest | ApiError> {
  const provider = await displayName(deps, connection);
  if (earlierLink) return { kind: 'connect', link: earlierLink, message: stillWaitingMessage(provider), waited: true };
  try {
    const link = await deps.store.write((tx) => linkFor(tx, deps, session, connection, cause));
    const message = connectMessage(provider, failure ? 'extend' : action);
    return { kind: 'connect', link, message, waited: false, failure };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return cannotConnect(error, provider, hasAccount);
  }
}

/** Returns the display name of a connection's provider, or the connection's key id if the provider does not exist. */
export async function displayName(
  { store, catalogue }: { store: Pick<Store, 'read'>; catalogue: Catalogue },
  { environmentId, providerKey, keyId }: ConnectionRow,
): Promise<string> {
  const provider = await findProvider(store.read, catalogue, environmentId, providerKey);
  return provider?.displayName ?? keyId;
}
