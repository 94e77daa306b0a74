import type { Details } from '../core/accounts/authorization-details.ts';
import { credentialsRead } from '../core/accounts/credentials-read.ts';
import type { Accounts } from '../core/capabilities/accounts.ts';
import { presentAccountDetails } from '../core/present/account.ts';
import { rfc3339 } from '../core/text/rfc3339.ts';
import type { AccountRow, Transaction } from '../db/store.ts';
import type { Call, Reply, Schemas } from '../http/contract.ts';
import { accountResponse, mayReadCredentials } from './account-response.ts';

type AccountOperation = 'createConnectedAccount' | 'updateConnectedAccount';
type Body = { connected_account: Schemas['ConnectedAccount'] };

/**
 * Commits a unit that writes an account, and replies with it. The response is stored for replays without credentials. A
 * replay adds them for a token that may read credentials, as long as the account has not changed, and adds a record of
 * this read to the audit log.
 *
 * @param unit returns the account, and its credentials if it has decrypted them
 */
export function commitAccount<O extends AccountOperation>(
  call: Call<O>,
  respond: (body: Body) => Reply<O>,
  accounts: Accounts,
  unit: (tx: Transaction) => Promise<{ account: AccountRow; details?: Details }>,
): Promise<Reply<O>> {
  let written: AccountRow;
  return call.commit(
    async (tx) => {
      const { account, details } = await unit(tx);
      written = account;
      return respond({ connected_account: accountResponse(account, call.client, accounts, details) });
    },
    {
      keep: () => respond({ connected_account: presentAccountDetails(written, accounts.usage.lastUsedAt(written)) }),
      async replay(tx, kept) {
        if (!mayReadCredentials(call.client)) return kept;
        const shown = (kept.body as Body).connected_account;
        const account = await tx.accounts.get(call.environment.id, shown.id);
        if (account === undefined || rfc3339(account.updatedAt) !== shown.updated_at) return kept;
        await credentialsRead(tx, accounts, account, call.cause);
        const { authorization_details } = accountResponse(account, call.client, accounts);
        return { ...kept, body: { connected_account: { ...shown, authorization_details } } };
      },
    },
  );
}
