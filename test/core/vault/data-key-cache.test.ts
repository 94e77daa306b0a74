import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import type { DataKeyContext } from '../../../core/vault/context.ts';
import { DATA_KEY_BYTES } from '../../../core/vault/data-key.ts';
import { DataKeyCache } from '../../../core/vault/data-key-cache.ts';
import type { KeyRing } from '../../../core/vault/key-ring.ts';
import { Vault } from '../../../core/vault/vault.ts';
import { codeOf, NEW, OLD, RECORD, ringOf, seededRandom } from './support.ts';

const random = seededRandom('data key cache');
const bytesOf = (id: string) => Buffer.concat([Buffer.from(id.padEnd(20, '_')), random(32)]);
const wrapped = random(100);
const bytes = bytesOf('dek_1');
const placeOf = (recordId: string): DataKeyContext => ({ ...RECORD, recordId });

function cacheWith(max = 4): DataKeyCache {
  const cache = new DataKeyCache(max);
  cache.set(RECORD, wrapped, bytes);
  return cache;
}

describe('the cache of data keys', () => {
  it('returns the key for the same place and the same bytes', () => {
    const found = cacheWith().get({ ...RECORD }, Buffer.from(wrapped));
    expect(found?.id).to.equal('dek_1'.padEnd(20, '_'));
    expect(found?.key.export().equals(bytes.subarray(20))).to.equal(true);
  });

  for (const [name, change] of [
    ['table', { table: 'auth_requests' }],
    ['environment', { environmentId: 'env_b' }],
    ['record', { recordId: 'ca_b' }],
    ['generation', { generation: 8 }],
    ['boundary between names', { environmentId: 'env_ac', recordId: 'a_a' }],
    ['boundary between names, quoted', { environmentId: 'env_a","ca_a', recordId: '' }],
  ] as const) {
    it(`returns nothing for another ${name}`, () => {
      expect(cacheWith().get({ ...RECORD, ...change }, wrapped)).to.equal(undefined);
    });
  }

  it('returns nothing for other bytes: a flipped bit, a part, or more', () => {
    const cache = cacheWith();
    for (let bit = 0; bit < wrapped.length * 8; bit++) {
      const flipped = Buffer.from(wrapped);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(cache.get(RECORD, flipped)).to.equal(undefined);
    }
    for (let length = 0; length < wrapped.length; length++) {
      expect(cache.get(RECORD, wrapped.subarray(0, length))).to.equal(undefined);
    }
    for (const more of [1, 27, 28, 200]) {
      expect(cache.get(RECORD, Buffer.concat([wrapped, Buffer.alloc(more)]))).to.equal(undefined);
    }
  });

  it('keeps the later of two keys of one place', () => {
    const cache = cacheWith();
    const [other, otherBytes] = [random(90), bytesOf('dek_2')];
    cache.set(RECORD, other, otherBytes);
    expect(cache.get(RECORD, wrapped)).to.equal(undefined);
    expect(cache.get(RECORD, other)?.key.export().equals(otherBytes.subarray(20))).to.equal(true);
  });

  it('removes the oldest entry when it is full, and never confuses entries', () => {
    const cache = new DataKeyCache(3);
    const all = Array.from({ length: 10 }, (_, n) => ({
      at: placeOf(`ca_${n}`),
      w: random(100),
      b: bytesOf(`dek_${n}`),
    }));
    for (const { at, w, b } of all) cache.set(at, w, b);
    const found = all.map(({ at, w, b }) => cache.get(at, w)?.key.export().equals(b.subarray(20)));
    expect(found).to.deep.equal([...Array(7).fill(undefined), true, true, true]);
  });

  it('stores nothing of another size', () => {
    const cache = new DataKeyCache(2);
    cache.set(RECORD, random(128), bytes);
    expect(cache.get(RECORD, random(128))).to.equal(undefined);
    cache.set(RECORD, wrapped, random(DATA_KEY_BYTES - 1));
    expect(cache.get(RECORD, wrapped)).to.equal(undefined);
  });
});

describe('a vault with cached data keys', () => {
  let ring: KeyRing = ringOf(OLD);
  const vault = new Vault({ current: () => ring, find: (id) => ring.get(id) }, random);
  const fields = { credentials: new Secret('t-1') };

  it('decrypts nothing under a key that was removed from the ring, even if it was decrypted before', () => {
    ring = ringOf(OLD);
    const record = vault.sealRecord(RECORD, fields);
    expect(vault.openRecord(RECORD, record).credentials.reveal()).to.equal('t-1');
    ring = ringOf(NEW);
    expect(codeOf(() => vault.openRecord(RECORD, record))).to.equal('UNKNOWN_KEY');
  });

  it('decrypts data keys that a rotation has rewrapped, and does not confuse them with another row', () => {
    ring = ringOf(OLD);
    const elsewhere = { ...RECORD, recordId: 'ca_b' };
    const [record, other] = [vault.sealRecord(RECORD, fields), vault.sealRecord(elsewhere, fields)];
    vault.openRecord(RECORD, record);
    vault.openRecord(elsewhere, other);
    ring = ringOf(NEW, OLD);
    const moved = { ...record, ...vault.rewrap(RECORD, record.wrappedDataKey) };
    ring = ringOf(NEW);
    expect(vault.openRecord(RECORD, moved).credentials.reveal()).to.equal('t-1');
    expect(codeOf(() => vault.openRecord(elsewhere, moved))).to.equal('UNSEALABLE');
  });
});
