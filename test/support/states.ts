import type { AccountRow, AccountStatus } from '../../db/store.ts';
import type { TestServer } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** Sets an account to a state that normally only a flow or a provider causes. */
export async function putInState(
  server: TestServer,
  id: string,
  status: AccountStatus,
  reason: string | null = null,
): Promise<void> {
  const { store, now } = server.parts;
  const environment = await firstEnvironment(server);
  const all: AccountStatus[] = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'];
  const change = { status, reason, updatedAt: now() };
  const done = await store.write((tx) => tx.accounts.setStatus(environment.id, id, all, change));
  if (!done) throw new Error(`there is no account ${id}`);
}

/** Returns the stored row of an account. */
export async function accountRow(server: TestServer, id: string): Promise<AccountRow> {
  const environment = await firstEnvironment(server);
  const row = await server.parts.store.read.accounts.get(environment.id, id);
  if (!row) throw new Error(`there is no account ${id}`);
  return row;
}
