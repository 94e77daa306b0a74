import { openCredentials } from '../../core/accounts/credentials.ts';
import { findAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import { presentAccount } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

export const getConnectedAccountAuth: Handler<'getConnectedAccountAuth'> = async (call, reply, deps) => {
  const found = await findAccount(deps.store.read, call.environment.id, readSelector(call.query));
  const account = await deps.freshen(found, call.cause);
  const details = openCredentials(deps.vault, account, account);
  // Committed before the answer leaves: a read that is not in the log did not happen.
  await deps.store.write((tx) => deps.events.credentialsRead(tx, call.cause, account.id));
  return reply(200, { connected_account: presentAccount(account, details, deps.usage.lastUsedAt(account)) });
};
