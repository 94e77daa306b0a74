import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { StorageError } from '../../../db/errors.ts';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { createStorageHealth } from '../../../db/storage-health.ts';
import { environmentId } from '../../../db/store.ts';
import { failure, freshIds, NOW, temporaryDirectory } from '../support.ts';

describe('the health of writes (F11)', () => {
  const full = new StorageError('SQLITE_FULL', 'the disk is full');

  function setUp() {
    const said: string[] = [];
    const health = createStorageHealth({
      failed: ({ code }, first) => said.push(`${code}${first ? ' first' : ''}`),
      worksAgain: () => said.push('works'),
    });
    let probes = 0;
    const probe = (outcome: 'works' | 'fails' = 'works') =>
      health.probe(async () => {
        probes++;
        if (outcome === 'works') return;
        health.failed(full);
        throw full;
      });
    return { health, said, probe, probes: () => probes };
  }

  it('is not probed while nothing has failed', async () => {
    const { probe, probes, health } = setUp();
    await probe();
    expect([probes(), health.failing()]).to.deep.equal([0, null]);
  });

  it('is unhealthy after the first failure, and healthy after an interval without one', async () => {
    const { health, said, probe } = setUp();
    health.failed(full);
    expect(health.failing()).to.equal(full);
    await probe();
    expect(health.failing(), 'there was a failure in the interval before').to.equal(full);
    await probe();
    expect(health.failing()).to.equal(null);
    expect(said).to.deep.equal(['SQLITE_FULL first', 'works']);
  });

  it('remains unhealthy while some writes fail, even if others succeed', async () => {
    const { health, said, probe } = setUp();
    for (let interval = 0; interval < 5; interval++) {
      health.failed(full);
      await probe();
      expect(health.failing()).to.equal(full);
    }
    expect(said).to.deep.equal(['SQLITE_FULL first', ...Array(4).fill('SQLITE_FULL')]);
  });

  it('remains unhealthy while the probe fails', async () => {
    const { health, probe } = setUp();
    health.failed(full);
    for (const outcome of ['works', 'fails', 'works', 'fails', 'fails'] as const) {
      await probe(outcome);
      expect(health.failing()).to.equal(full);
    }
    await probe();
    await probe();
    expect(health.failing()).to.equal(null);
  });
});

describe('a database that cannot be read (F11)', () => {
  it('is unhealthy, and logs this once', async () => {
    const directory = temporaryDirectory();
    const path = join(directory.path, 'test.db');
    const made = await openSqliteStore({ path, now: () => NOW });
    await made.close();
    damage(path, 'mcp_configs');
    const said: string[] = [];
    const watch = { failed: ({ code }: StorageError, first: boolean) => said.push(`${code} ${first}`) };
    const store = await openSqliteStore({ path, now: () => NOW, checkUpTo: 0, watch });
    expect(await store.healthy()).to.equal(true);
    const read = () => failure(store.read.mcpConfigs.get(environmentId(freshIds()('env')), 'mcp_1'));
    expect([(await read()).name, (await read()).name]).to.deep.equal(['StorageError', 'StorageError']);
    expect(said).to.deep.equal(['SQLITE_CORRUPT true', 'SQLITE_CORRUPT false']);
    expect(await store.healthy()).to.equal(false);
    await store.close();
    directory.remove();
  });

  /** Overwrites the root pages of a table and of its indexes. */
  function damage(path: string, table: string): void {
    const client = new Database(path, { readonly: true });
    const pages = client
      .prepare('select rootpage from sqlite_schema where tbl_name = ?')
      .pluck()
      .all(table) as number[];
    const size = client.pragma('page_size', { simple: true }) as number;
    client.close();
    const fd = openSync(path, 'r+');
    for (const page of pages) writeSync(fd, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
    closeSync(fd);
  }
});
