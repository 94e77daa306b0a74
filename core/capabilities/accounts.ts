import type { AccountRow, AccountSummaryRow, Store } from '../../db/store.ts';
import type { UpdateDeps } from '../accounts/update-account.ts';
import type { Cause, Events } from '../events/events.ts';
import type { CheckCredentials } from '../executions/credential-check.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on connected accounts and their credentials. */
export type Accounts = Lists &
  UpdateDeps & {
    store: Store;
    events: Events;
    checkCredentials: CheckCredentials;
    usage: {
      /** Milliseconds UTC, or null. */
      lastUsedAt(account: AccountSummaryRow): number | null;
    };
    /** Returns the account with a valid token, refreshed if needed and possible. */
    freshen(account: AccountRow, cause: Cause): Promise<AccountRow>;
    links: {
      /** Ends expired links soon. Call it after requests of links were closed before they expired. */
      expireSoon(): void;
    };
    /** Removes deleted rows from the database file soon. */
    scrubStorage(): void;
  };
