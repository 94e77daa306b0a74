import { randomBytes } from 'node:crypto';
import { createIds } from '../../../core/ids.ts';
import { openStore } from '../../../db/open-store.ts';
import { openSession } from '../../../db/postgres/session.ts';
import { environmentId } from '../../../db/store.ts';
import { accountId, newAccount, type Subjects } from './operations.ts';

const PIECE = 50_000;

/** Fills a migrated database: an environment, a client, a connection, an account, and many copies of this account. */
export async function seed(location: string, accounts: number): Promise<Subjects> {
  const store = await openStore({ location, now: Date.now });
  const newId = createIds(Date.now, randomBytes);
  const env = environmentId(newId('env'));
  const [connectionId, clientId, createdAt] = [newId('conn'), newId('cli'), Date.now()];
  const environment = { id: env, kind: 'DEVELOPMENT' as const, baseUrl: 'http://localhost', settings: {}, createdAt };
  await store.write((tx) => tx.environments.insert({ ...environment, hosts: ['localhost'] }));
  const secret = { id: newId('sec'), digest: randomBytes(32), prefix: 'vks_benc', createdAt };
  await store.write((tx) =>
    tx.apiClients.insert(env, { id: clientId, name: 'Bench', scopes: ['accounts:read'], createdAt }, secret),
  );
  const connection = { keyId: 'github', providerKey: 'github', type: 'OAUTH', status: 'COMPLETED' } as const;
  const times = { createdAt, updatedAt: createdAt };
  await store.write((tx) =>
    tx.connections.insert(env, { id: connectionId, ...connection, verificationMode: 'REQUIRED', ...times }),
  );
  await store.write((tx) => tx.accounts.insert(env, newAccount(accountId(1), connectionId)));
  await store.close();
  await copyAccounts(location, accounts);
  return { environmentId: env, connectionId, clientId, accounts };
}

async function copyAccounts(location: string, accounts: number): Promise<void> {
  const { query, close } = await openSession(location, { statementMs: null });
  try {
    const { rows } = await query({
      text: `select string_agg(column_name, ', ') from information_schema.columns
        where table_name = 'accounts' and column_name not in ('seq', 'id', 'identifier', 'search_text')`,
    });
    const others = String(rows[0]?.[0]);
    for (let first = 2; first <= accounts; first += PIECE) {
      const last = Math.min(first + PIECE - 1, accounts);
      await query({
        text: `insert into accounts (seq, id, identifier, search_text, ${others})
          select (seq >> 40 << 40) + nextval('accounts_seq'), 'ca_' || lpad(n::text, 26, '0'),
            'user' || n || '@example.com', 'user' || n || '@example.com', ${others}
          from accounts, generate_series(${first}, ${last}) as n where id = '${accountId(1)}'`,
      });
    }
    await query({ text: 'select fold_counts()' });
    await query({ text: 'vacuum analyze' });
    await query({ text: 'checkpoint' });
  } finally {
    await close();
  }
}
