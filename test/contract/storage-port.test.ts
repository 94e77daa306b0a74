import { join } from 'node:path';
import { expect } from 'chai';
import { findEngineWords, problemsIn } from '../../scripts/check-storage-port.ts';

describe('engine-specific SQL terms', () => {
  it('occur only in the folder of their engine', () => {
    expect(findEngineWords(join(import.meta.dirname, '../..'))).to.deep.equal([]);
  });

  for (const [file, text] of [
    ['db/accounts/list.ts', 'const LIST = sql`(select value from json_each(?))`;'],
    ['db/audit.ts', "client.pragma('user_version');"],
    ['db/store.ts', "import { openSqliteStore } from './sqlite/store.ts';"],
    ['db/errors.ts', "if (code === 'SQLITE_BUSY') return;"],
    ['core/retention/retention.ts', '/** Empties the WAL. */'],
    ['wiring/storage-metrics.ts', 'statSync("data.db-wal").size'],
  ] as const) {
    it(`are found in ${file}: ${text}`, () => {
      expect(problemsIn(file, text)).to.deep.equal([`${file}:1 depends on one database: ${text}`]);
    });
  }

  for (const [file, text] of [
    ['db/sqlite/open.ts', "client.pragma('journal_mode = wal');"],
    ['db/open-store.ts', "await import('./sqlite/engine.ts')"],
    ['handlers/oauth/issueToken.ts', "{ pragma: 'no-cache' }"],
    ['core/accounts/create-account.ts', 'await tx.accounts.insert(environmentId, account);'],
  ] as const) {
    it(`may occur in ${file}: ${text}`, () => expect(problemsIn(file, text)).to.deep.equal([]));
  }
});
