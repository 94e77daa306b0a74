import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { missingData } from '../../../db/sqlite/complete.ts';
import { markPath, readClaims } from '../../../db/sqlite/mark-file.ts';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { account, failure, github, NOW, openSharedTestStore, type TestStore, temporaryDirectory } from '../support.ts';

const FRAME = 4096 + 24;
const HEADER = 32;

describe('durable data that is missing at a start (F15)', () => {
  let test: TestStore;
  let connectionId: string;
  let crashed: ReturnType<typeof temporaryDirectory>;

  beforeEach(async () => {
    test = await openSharedTestStore();
    connectionId = await github(test);
    crashed = temporaryDirectory();
  });
  afterEach(async () => {
    await test.end();
    crashed.remove();
  });

  const insert = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await test.store.write((tx) => tx.accounts.insert(test.env, account(test.newId, connectionId)));
    }
  };
  const marked = (name: string) => Math.max(0, ...readClaims(test.file).map(({ totals }) => totals[name] ?? 0));
  /** Resolves when the mark counts this many accounts, which takes a tenth of a second. */
  const untilMarked = async (accounts: number) => {
    while (marked('accounts') < accounts) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  /** Copies the files that a process would leave behind if it were killed now. */
  const crash = (): string => {
    const file = join(crashed.path, 'test.db');
    for (const suffix of ['', '-wal', '-mark']) copyFileSync(test.file + suffix, file + suffix);
    return file;
  };
  const count = async (file: string) => {
    const store = await openSqliteStore({ path: file, now: () => NOW });
    const { total } = await store.read.accounts.list(test.env, {}, { size: 1 });
    await store.close();
    return total;
  };

  it('is not reported after a crash that lost nothing (control)', async () => {
    await insert(40);
    await untilMarked(40);
    expect(await count(crash())).to.equal(40);
  });

  it('is not reported if the mark is older than the log', async () => {
    await insert(20);
    await untilMarked(20);
    const mark = readFileSync(markPath(test.file));
    await insert(20);
    const file = crash();
    writeFileSync(markPath(file), mark);
    expect(await count(file)).to.equal(40);
  });

  it('is not reported if another process has moved the log and removed it', async () => {
    await insert(20);
    await untilMarked(20);
    const file = crash();
    const other = new Database(file);
    other.prepare('select count(*) from accounts').get();
    other.close();
    expect(existsSync(`${file}-wal`)).to.equal(false);
    expect(await count(file)).to.equal(20);
  });

  it('is not reported after many restarts of the log', async () => {
    const bounds = { piece: 16, length: 64, lastPiece: 8, backlog: 1000 };
    await test.end();
    test = await openSharedTestStore({ logBounds: bounds });
    connectionId = await github(test);
    for (let i = 1; i <= 6; i++) {
      await insert(20);
      await untilMarked(20 * i);
      expect(missingData(test.file), 'beside the process that writes').to.deep.equal([]);
      expect(await count(crash())).to.equal(20 * i);
      for (const name of readdirSync(crashed.path)) rmSync(join(crashed.path, name));
    }
  });

  const DAMAGES: Record<string, (file: string) => void> = {
    'a byte in the middle of the log changed': (file) => {
      const fd = openSync(`${file}-wal`, 'r+');
      const frames = Math.floor((statSync(`${file}-wal`).size - HEADER) / FRAME);
      writeSync(fd, Buffer.from([0xa5, 0x5a]), 0, 2, HEADER + Math.floor(frames / 2) * FRAME + 500);
      closeSync(fd);
    },
    'a page in the middle of the log filled with zeros': (file) => {
      const fd = openSync(`${file}-wal`, 'r+');
      writeSync(fd, Buffer.alloc(4096), 0, 4096, 4096 * 30);
      closeSync(fd);
    },
    'the log cut off in the middle': (file) =>
      truncateSync(`${file}-wal`, Math.floor(statSync(`${file}-wal`).size / 2)),
    'the header of the log changed': (file) => {
      const bytes = readFileSync(`${file}-wal`);
      // The byte is changed, not set: a fixed value would sometimes equal the present one.
      bytes[20] = (bytes[20] as number) ^ 0xff;
      writeFileSync(`${file}-wal`, bytes);
    },
    'the log emptied': (file) => truncateSync(`${file}-wal`, 0),
    'the log removed': (file) => rmSync(`${file}-wal`),
    'the database removed': (file) => {
      rmSync(file);
      rmSync(`${file}-wal`);
    },
  };
  for (const [what, damage] of Object.entries(DAMAGES)) {
    it(`is reported, and the files do not change: ${what}`, async () => {
      await insert(40);
      await untilMarked(40);
      const file = crash();
      damage(file);
      const before = readdirSync(crashed.path)
        .filter((name) => !name.endsWith('-shm'))
        .map((name) => [name, readFileSync(join(crashed.path, name)).toString('hex')]);
      const error = await failure(openSqliteStore({ path: file, now: () => NOW }));
      expect(error.code).to.equal('DATABASE_INCOMPLETE');
      expect(error.message).to.match(/lacks data that was stored durably: \d+ accounts/);
      const [, missing] = /(\d+) accounts/.exec(error.message) ?? [];
      const after = before.map(([name]) => [name, readFileSync(join(crashed.path, String(name))).toString('hex')]);
      expect(after).to.deep.equal(before);
      rmSync(markPath(file));
      if (!existsSync(file)) return;
      expect(Number(missing)).to.equal(40 - (await countOf(file)));
    });
  }

  /** Counts the accounts that SQLite finds, without comparing them with the mark. */
  async function countOf(file: string): Promise<number> {
    const client = new Database(file);
    const exists = client.prepare("select 1 from sqlite_schema where name = 'accounts'").get();
    const total = exists ? (client.prepare('select count(*) from accounts').pluck().get() as number) : 0;
    client.close();
    return total;
  }

  it('is reported for a part of the log that contains none of the counted rows', async () => {
    await insert(5);
    await untilMarked(5);
    for (let i = 0; i < 20; i++) {
      const check = { kekId: `kek_${i}`, checkValue: Buffer.alloc(3000, i), createdAt: NOW };
      await test.store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check));
    }
    const frames = () => Math.max(...readClaims(test.file).map((claim) => claim.frames));
    const size = () => Math.floor((statSync(`${test.file}-wal`).size - HEADER) / FRAME);
    while (frames() < size()) await new Promise((resolve) => setTimeout(resolve, 5));
    const file = crash();
    truncateSync(`${file}-wal`, HEADER + (size() - 3) * FRAME);
    const error = await failure(openSqliteStore({ path: file, now: () => NOW }));
    expect(error.message).to.match(/durably: \d+ pages of the log\./);
  });

  it('is reported for an older file in the place of the database', async () => {
    await insert(10);
    await test.store.scrub();
    const older = readFileSync(test.file);
    await insert(10);
    await untilMarked(20);
    const file = crash();
    rmSync(`${file}-wal`);
    writeFileSync(file, older);
    expect((await failure(openSqliteStore({ path: file, now: () => NOW }))).message).to.contain('10 accounts');
  });

  it('is not reported for a torn mark: the other mark counts', async () => {
    await insert(10);
    await untilMarked(10);
    await insert(10);
    await untilMarked(20);
    const file = crash();
    const bytes = readFileSync(markPath(file));
    for (const slot of [0, 1]) {
      const torn = Buffer.from(bytes);
      torn.fill(0, slot * 512 + 100, slot * 512 + 130);
      writeFileSync(markPath(file), torn);
      expect(readClaims(file)).to.have.length(1);
    }
    writeFileSync(markPath(file), Buffer.from('not a mark'));
    expect(readClaims(file)).to.deep.equal([]);
    expect(await count(file)).to.equal(20);
  });
});
