import { expect } from 'chai';
import { openCopySource } from '../../../db/sqlite/copy/source.ts';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { NOW, temporaryDirectory } from '../support.ts';

describe('the tables that `valetkey db copy` copies', () => {
  it('are all tables except derived ones: a new table belongs in db/copy/tables.ts', async () => {
    const { path, remove } = temporaryDirectory();
    const file = `${path}/valetkey.db`;
    await (await openSqliteStore({ path: file, now: () => NOW })).close();
    const source = await openCopySource(file);
    expect(await source.unknownTables()).to.deep.equal([]);
    await source.close();
    remove();
  });
});
