import type { Store } from '../../db/store.ts';
import type { AccountChanges } from '../accounts/account-changes.ts';
import { findAccount } from '../accounts/find.ts';
import type { AccountKey } from '../accounts/selector.ts';
import { MCP_SERVER } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import type { McpSession } from './session.ts';

export interface WaitDeps {
  store: Store;
  accountChanges: Pick<AccountChanges, 'next'>;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
}

/**
 * Waits until a user has connected an account, because clients repeat a call as soon as the user has opened the link,
 * long before the user has finished. Only changes by this process end the wait early.
 *
 * @param signal ends the wait when the caller has disconnected or cancels the call
 * @returns when the account is active or does not exist, after `waitForUserMs`, or when `signal` is aborted
 */
export async function waitForAccount(
  { store, accountChanges, wait }: WaitDeps,
  { environment }: McpSession,
  key: AccountKey,
  signal: AbortSignal,
): Promise<void> {
  const account = await findAccount(store.read, environment.id, { by: 'key', key }).catch(ignoreRefusal);
  if (!account) return;
  const late = wait(MCP_SERVER.waitForUserMs).then(() => 'late' as const);
  const gone = new Promise<'late'>((resolve) =>
    signal.addEventListener('abort', () => resolve('late'), { once: true }),
  );
  for (;;) {
    const { change, cancel } = accountChanges.next(account.id);
    try {
      if (signal.aborted || (await isSettled(account.id))) return;
      if ((await Promise.race([change, late, gone])) === 'late') return;
    } finally {
      cancel();
    }
  }

  async function isSettled(id: string): Promise<boolean> {
    const current = await store.read.accounts.get(environment.id, id);
    return current === undefined || current.status === 'ACTIVE';
  }
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}
