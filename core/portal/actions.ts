import type { ConnectionRow, EnvironmentRow, PortalSessionRow, Store, Transaction } from '../../db/store.ts';
import { createAccount } from '../accounts/create-account.ts';
import { type CreateLinkDeps, createLink } from '../accounts/links/create-link.ts';
import { disconnectAccount } from '../accounts/remove-account.ts';
import type { RevocationDeps } from '../accounts/revocation-order.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import { endGrant } from '../mcp-login/grants.ts';
import { ownAccount, ownAccounts, ownGrant } from './own.ts';

export interface ActionDeps extends CreateLinkDeps, RevocationDeps {
  store: Store;
  links: {
    /** Schedules the job that ends link requests. Call it after requests were closed before they expired. */
    expireSoon(): void;
  };
  /** Removes deleted rows from the database file soon. */
  scrubStorage(): void;
}

const DISCONNECTED = 'Disconnected by its user.';

/**
 * The actions of the user of a session. They return `undefined` or `false` if the object does not exist or belongs to
 * another user. `connect` and `reconnect` also return `undefined` if no link can be created.
 */
export interface PortalActions {
  /**
   * Creates a link with which the user connects an account of a connection. If the user has no account of the
   * connection with the identifier of the session, an account is created.
   *
   * @returns the address of the link
   */
  connect(connectionId: string): Promise<string | undefined>;
  /** Creates a link for an account that the user has. @returns the address of the link */
  reconnect(accountId: string): Promise<string | undefined>;
  disconnect(accountId: string): Promise<boolean>;
  revoke(grantId: string): Promise<boolean>;
}

export function portalActions(
  deps: ActionDeps,
  environment: EnvironmentRow,
  session: PortalSessionRow,
  cause: Cause,
): PortalActions {
  const { store } = deps;

  async function link(tx: Transaction, { id }: { id: string }): Promise<string> {
    const current = (await tx.environments.get(environment.id)) as EnvironmentRow;
    const { userVerifyUrl, language } = session;
    const request = { id, user_verify_url: userVerifyUrl ?? undefined, language: language ?? undefined };
    return (await createLink(tx, deps, current, request, cause)).url;
  }

  /**
   * Finds or creates the account by the exact owner. The key of an account (connection, identifier and owner) cannot be
   * used to find it, because a key without an organization also matches accounts of organizations.
   */
  async function accountOf(tx: Transaction, connection: ConnectionRow): Promise<{ id: string }> {
    const { organizationId, userId, identifier } = session;
    const own = await ownAccounts(tx, environment.id, session, { connectionId: connection.id, identifier });
    if (own[0]) return own[0];
    const owner = { organizationId: organizationId || undefined, userId: userId || undefined };
    const key = { connector: connection.keyId, identifier, ...owner };
    return (await createAccount(tx, deps, environment.id, key, {}, cause)).account;
  }

  return {
    connect: (connectionId) =>
      ifPossible(() =>
        store.write(async (tx) => {
          const connection = await tx.connections.get(environment.id, connectionId);
          return connection && link(tx, await accountOf(tx, connection));
        }),
      ),
    reconnect: (accountId) =>
      ifPossible(() =>
        store.write(async (tx) => {
          const account = await ownAccount(tx, environment.id, session, accountId);
          return account && link(tx, account);
        }),
      ),
    disconnect: (accountId) =>
      store.write(async (tx) => {
        const account = await ownAccount(tx, environment.id, session, accountId);
        if (!account) return false;
        if (account.status === 'DISCONNECTED') return true;
        await disconnectAccount(tx, deps, account, DISCONNECTED, cause);
        tx.afterCommit(() => {
          deps.links.expireSoon();
          deps.scrubStorage();
        });
        return true;
      }),
    revoke: (grantId) =>
      store.write(async (tx) => {
        const grant = await ownGrant(tx, environment.id, session, grantId);
        if (grant) await endGrant(tx, deps, grant, 'REVOKED_BY_USER', cause);
        return grant !== undefined;
      }),
  };
}

/** Returns undefined if a link cannot be created, for example because the connection was disabled in the meantime. */
async function ifPossible(create: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await create();
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  }
}
