import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { TestServer } from '../support/server.ts';

/** The data of an account that an older version stored, as far as release tests use it. */
export interface StoredAccount {
  id: string;
  identifier: string;
  status: string;
  authorization_type: string;
  authorization_details: unknown;
}

/** The data that an older version stored, as its API returned it. */
export interface ReleasedFacts {
  /** Milliseconds UTC at which it was stored. */
  storedAt: number;
  accounts: StoredAccount[];
  /** Numbers of rows by table. */
  rows: Record<string, number>;
}

/** The key-encryption key of the released databases. It protects nothing else. */
export const FIXTURE_KEYS = `kek_test-data-only:${Buffer.alloc(32, 'not a secret: test data only. ').toString('base64')}`;
export const RELEASES = join(import.meta.dirname, '../../releases');

const place = (version: string, name: string) => join(RELEASES, version, name);

export function writeReleased(version: string, database: Buffer, facts: ReleasedFacts): void {
  writeFileSync(place(version, 'valetkey.db.gz'), gzipSync(database, { level: 9 }));
  writeFileSync(place(version, 'facts.json'), `${JSON.stringify(facts, null, 2)}\n`);
}

export function readReleased(version: string): { database: Buffer; facts: ReleasedFacts } {
  const database = gunzipSync(readFileSync(place(version, 'valetkey.db.gz')));
  return { database, facts: JSON.parse(readFileSync(place(version, 'facts.json'), 'utf8')) as ReleasedFacts };
}

/** Returns the accounts of a server with their credentials. */
export async function readAccounts({ call }: Pick<TestServer, 'call'>): Promise<StoredAccount[]> {
  const list = await call('GET', '/api/v1/connected_accounts?page_size=30');
  const accounts: StoredAccount[] = [];
  for (const { id, identifier, status, authorization_type } of list.body.connected_accounts) {
    const { body } = await call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
    const authorization_details = body.connected_account?.authorization_details;
    accounts.push({ id, identifier, status, authorization_type, authorization_details });
  }
  return accounts;
}
