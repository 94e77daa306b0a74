import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import type { RecordContext } from '../../../core/vault/context.ts';
import { verifyKeyChecks } from '../../../core/vault/key-check.ts';
import { readKeyFile } from '../../../core/vault/key-file.ts';
import { createKeyFile } from '../../../core/vault/key-file-edit.ts';
import { createAndAddKey, retireKey } from '../../../core/vault/key-lifecycle.ts';
import { type KeyRing, parseKeyRing } from '../../../core/vault/key-ring.ts';
import { fixedKeys, KeyFileSource, type KeySource } from '../../../core/vault/key-source.ts';
import { type RotationProgress, rewrapAll } from '../../../core/vault/rotate.ts';
import { Vault } from '../../../core/vault/vault.ts';
import { MemoryStore, type Row } from './memory-store.ts';
import { failureOfAsync, keyLine, NEW, OLD, RECORD, ringOf, seededRandom, VALUE, vaultOf } from './support.ts';

const MIDDLE = 'kek_middlemid';
const START = 1_800_000_000_000;
const ring = ringOf(NEW, OLD);
const keys = fixedKeys(ring);
const oldVault = vaultOf(ringOf(OLD), 'before');
const vault = vaultOf(ring, 'after');
const newOnly = vaultOf(ringOf(NEW), 'later');

interface Account {
  row: Row;
  context: RecordContext;
  sealed: Record<string, Buffer>;
  token: string;
}

function addAccount(store: MemoryStore, index: number, sealer = oldVault): Account {
  const context = { ...RECORD, recordId: `ca_${index}` };
  const token = `token ${index}`;
  const { kekId, wrappedDataKey, sealed } = sealer.sealRecord(context, { token: new Secret(token) });
  const row = store.put(kekId, { kind: 'data-key', context, blob: wrappedDataKey });
  return { row, context, sealed, token };
}

function opens({ row, context, sealed, token }: Account): boolean {
  return newOnly.open(context, 'token', { wrappedDataKey: row.item.blob, sealed }).reveal() === token;
}

describe('rotation of the key-encryption key', () => {
  let store: MemoryStore;
  let accounts: Account[];
  let value: Row;

  beforeEach(async () => {
    store = new MemoryStore();
    await verifyKeyChecks(ring, store, START);
    accounts = Array.from({ length: 25 }, (_, index) => addAccount(store, index));
    const { kekId, blob } = oldVault.sealValue(VALUE, new Secret('client secret'));
    value = store.put(kekId, { kind: 'value', context: VALUE, blob });
  });

  function expectAllMoved(): void {
    expect(store.rows.every(({ kekId }) => kekId === NEW)).to.equal(true);
    expect(accounts.every(opens)).to.equal(true);
    expect(newOnly.openValue(VALUE, value.item.blob).reveal()).to.equal('client secret');
  }

  it('rewraps data keys and values under the active key and does not change fields', async () => {
    const result = await rewrapAll(vault, keys, store, { batchSize: 10 });
    expect(result).to.deep.equal({ done: 26, failed: [], remaining: 0 });
    expectAllMoved();
  });

  it('writes batches of the given size, even if one list of the store is longer', async () => {
    const sizes: number[] = [];
    const whole = {
      listUnder: (kekId: string) => store.listUnder(kekId, undefined, 1_000),
      countUnder: (kekId: string) => store.countUnder(kekId),
      replaceSealed: (changes: Parameters<typeof store.replaceSealed>[0]) => {
        sizes.push(changes.length);
        return store.replaceSealed(changes);
      },
      forgetKeyCheck: (kekId: string) => store.forgetKeyCheck(kekId),
    };
    await rewrapAll(vault, keys, whole, { batchSize: 10 });
    expect(sizes).to.deep.equal([10, 10, 6]);
    expectAllMoved();
  });

  it('reports its progress after each batch', async () => {
    const seen: RotationProgress[] = [];
    await rewrapAll(vault, keys, store, { batchSize: 10, onProgress: (progress) => seen.push(progress) });
    expect(seen).to.deep.equal([10, 20, 26].map((done) => ({ kekId: OLD, done, total: 26 })));
  });

  it('does nothing the second time', async () => {
    await rewrapAll(vault, keys, store);
    const before = store.rows.map(({ item }) => item.blob);
    const again = await rewrapAll(vault, keys, store);
    expect(again).to.deep.equal({ done: 0, failed: [], remaining: 0 });
    expect(store.rows.map(({ item }) => item.blob)).to.deep.equal(before);
  });

  it('continues after an interruption, and every record is readable in between', async () => {
    let batches = 0;
    store.beforeReplace = () => {
      if (++batches === 2) throw new Error('killed');
    };
    const outcome = await rewrapAll(vault, keys, store, { batchSize: 10 }).catch((error: Error) => error.message);
    expect(outcome).to.equal('killed');
    expect(await store.countUnder(OLD)).to.equal(16);
    for (const { row, context, sealed, token } of accounts) {
      expect(vault.open(context, 'token', { wrappedDataKey: row.item.blob, sealed }).reveal()).to.equal(token);
    }

    const result = await rewrapAll(vault, keys, store, { batchSize: 10 });
    expect(result).to.deep.equal({ done: 16, failed: [], remaining: 0 });
    expectAllMoved();
  });

  it('never overwrites a concurrent write of a request', async () => {
    const account = accounts[3] as Account;
    store.beforeReplace = () => {
      store.beforeReplace = () => {};
      const context = { ...account.context, generation: 8 };
      const fresh = vault.sealRecord(context, { token: new Secret('fresh') });
      account.row.kekId = fresh.kekId;
      account.row.item = { kind: 'data-key', context, blob: fresh.wrappedDataKey };
      Object.assign(account, { context, sealed: fresh.sealed, token: 'fresh' });
    };
    const result = await rewrapAll(vault, keys, store);
    expect(result).to.deep.equal({ done: 25, failed: [], remaining: 0 });
    expectAllMoved();
  });

  it('processes records that another process has encrypted under the old key meanwhile', async () => {
    let batches = 0;
    store.beforeReplace = () => {
      // Inserts a row before the current position of the rotation.
      if (++batches === 3) accounts.push(insertFirst(store));
    };
    const result = await rewrapAll(vault, keys, store, { batchSize: 10 });
    expect(result).to.deep.equal({ done: 27, failed: [], remaining: 0 });
    expectAllMoved();
  });

  it('skips and reports a record that cannot be decrypted, and rotates the others', async () => {
    const broken = accounts.shift() as Account;
    broken.row.item.blob.writeUInt8(broken.row.item.blob.readUInt8(40) ^ 1, 40);
    const { done, failed, remaining } = await rewrapAll(vault, keys, store, { batchSize: 10 });
    expect({ done, remaining }).to.deep.equal({ done: 25, remaining: 1 });
    expect(failed.map(({ item, error }) => [item.context.recordId, error.code])).to.deep.equal([
      ['ca_0', 'UNSEALABLE'],
    ]);
    expect(broken.row.kekId).to.equal(OLD);
    expect(accounts.every(opens)).to.equal(true);
  });

  it('corrects a row whose key id differs from that of its ciphertext', async () => {
    const account = addAccount(store, 99, vault);
    account.row.kekId = OLD;
    const { blob } = account.row.item;
    await rewrapAll(vault, keys, store);
    expect(account.row.kekId).to.equal(NEW);
    expect(account.row.item.blob.equals(blob)).to.equal(true);
  });

  it('may run twice concurrently', async () => {
    const [one, other] = await Promise.all([
      rewrapAll(vault, keys, store, { batchSize: 7 }),
      rewrapAll(vaultOf(ring, 'other'), keys, store, { batchSize: 5 }),
    ]);
    expect(one.done + other.done).to.equal(26);
    expectAllMoved();
  });

  it('continues with the newer key when another rotation makes one active meanwhile', async () => {
    const changing = new ChangingKeys(ringOf(MIDDLE, OLD));
    await store.addKeyCheck({ kekId: MIDDLE, check: changing.current().active.check, createdAt: START });
    let batches = 0;
    store.beforeReplace = () => {
      if (++batches === 2) changing.ring = ringOf(NEW, MIDDLE, OLD);
      if (batches > 100) throw new Error('the rotation does not end');
    };
    const both = new Vault(changing, seededRandom('changing'));
    const result = await rewrapAll(both, changing, store, { batchSize: 10 });
    expect(result).to.include({ remaining: 0 });
    expectAllMoved();
  });
});

class ChangingKeys implements KeySource {
  ring: KeyRing;

  constructor(ring: KeyRing) {
    this.ring = ring;
  }

  current = () => this.ring;
  find = (id: string) => this.ring.get(id);
}

function insertFirst(store: MemoryStore): Account {
  const account = addAccount(store, 77);
  store.rows.unshift(...store.rows.splice(store.rows.indexOf(account.row), 1));
  return account;
}

describe('a key file during a rotation', () => {
  let directory: string;
  let path: string;
  let store: MemoryStore;
  const clock = { time: START };

  beforeEach(async () => {
    clock.time = START;
    directory = mkdtempSync(join(tmpdir(), 'valetkey-rotate-'));
    path = join(directory, 'keys');
    store = new MemoryStore();
    createKeyFile(path, new Secret(keyLine(OLD)));
    await verifyKeyChecks(ringOf(OLD), store, START);
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  const ringInFile = () => parseKeyRing(readKeyFile(path).text, path);
  const retirement = () => ({ ring: ringInFile(), store, keyFile: path, now: clock.time });

  it('goes through the whole rotation while a server runs', async () => {
    const serving = new KeyFileSource(path, () => clock.time);
    const server = new Vault(serving, seededRandom('server'));
    const before = addAccount(store, 1, server);
    expect(before.row.kekId).to.equal(OLD);

    const id = await createAndAddKey(path, store, seededRandom('cli'), clock.time);
    expect(store.checks.get(id)?.check).to.deep.equal(ringInFile().active.check);
    const cli = new KeyFileSource(path, () => clock.time);
    await rewrapAll(new Vault(cli, seededRandom('cli 2')), cli, store);
    expect(before.row.kekId).to.equal(id);

    // The server has not read the key file since the rotation. The row names a key that the server does not have yet.
    const read = server.open(before.context, 'token', { wrappedDataKey: before.row.item.blob, sealed: before.sealed });
    expect(read.reveal()).to.equal('token 1');
    expect(addAccount(store, 2, server).row.kekId).to.equal(id);

    clock.time += 60_000;
    await retireKey(OLD, retirement());
    expect(ringInFile().ids).to.deep.equal([id]);
    await verifyKeyChecks(ringInFile(), store, START);
  });

  it('is not changed when the check value of the new key cannot be stored', async () => {
    const broken = { addKeyCheck: () => Promise.reject(new Error('disk full')) };
    const outcome = await createAndAddKey(path, broken, seededRandom(), clock.time).catch(
      (error: Error) => error.message,
    );
    expect(outcome).to.equal('disk full');
    expect(ringInFile().ids).to.deep.equal([OLD]);
  });

  it('keeps a key while any record uses it', async () => {
    const { row } = addAccount(store, 1);
    const id = await createAndAddKey(path, store, seededRandom(), clock.time);
    clock.time += 60_000;
    const failure = await failureOfAsync(() => retireKey(OLD, retirement()));
    expect(failure.code).to.equal('KEY_IN_USE');
    expect(failure.message).to.equal(
      `The key ${OLD} still encrypts records (1 left): run \`valetkey keys rotate\` first`,
    );
    expect(ringInFile().ids).to.deep.equal([id, OLD]);
    expect(row.kekId).to.equal(OLD);
  });

  it('keeps the old key for a minute, in which a running request may still write with it', async () => {
    await createAndAddKey(path, store, seededRandom(), clock.time);
    clock.time += 59_999;
    const failure = await failureOfAsync(() => retireKey(OLD, retirement()));
    expect(failure.code).to.equal('KEY_IN_USE');
    expect(failure.message).to.include('became active less than a minute ago');
    clock.time += 1;
    await retireKey(OLD, retirement());
    expect(ringInFile().get(OLD)).to.equal(undefined);
  });

  it('keeps the active key and ignores an unknown one', async () => {
    for (const [id, code] of [
      [OLD, 'KEY_IN_USE'],
      [NEW, 'UNKNOWN_KEY'],
    ] as const) {
      expect((await failureOfAsync(() => retireKey(id, retirement()))).code).to.equal(code);
    }
    expect(store.checks.has(OLD)).to.equal(true);
  });

  it('refuses a late write under the old key, before the key is removed', async () => {
    const late = vaultOf(ringOf(OLD), 'late').sealValue(VALUE, new Secret('late'));
    await createAndAddKey(path, store, seededRandom(), clock.time);
    clock.time += 60_000;
    await retireKey(OLD, { ...retirement(), keyFile: undefined });
    expect(() => store.put(late.kekId, { kind: 'value', context: VALUE, blob: late.blob })).to.throw('foreign key');
    expect(ringInFile().get(OLD)).to.not.equal(undefined);
  });
});
