import { openCredentials } from '../../core/accounts/credentials.ts';
import { credentialsRead } from '../../core/accounts/credentials-read.ts';
import { findAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import { presentAccount } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

export const getConnectedAccountAuth: Handler<'getConnectedAccountAuth', Accounts> = async (call, reply, accounts) => {
  const found = await findAccount(accounts.store.read, call.environment.id, readSelector(call.query));
  const account = await accounts.freshen(found, call.cause);
  const details = openCredentials(accounts.vault, account, account);
  // The audit record is committed before the response is sent, so that no read of credentials is missing in the audit
  // log. The transaction need not be isolated, because the record does not depend on data that the transaction reads.
  await accounts.store.write((tx) => credentialsRead(tx, accounts, account, call.cause), { isolated: false });
  return reply(200, { connected_account: presentAccount(account, details, accounts.usage.lastUsedAt(account)) });
};
