import { expect } from 'chai';
import { verifyKeyChecks } from '../../../core/vault/key-check.ts';
import { parseKeyRing } from '../../../core/vault/key-ring.ts';
import { MemoryStore } from './memory-store.ts';
import { failureOfAsync, keyLine, NEW, OLD, ringOf, VALUE } from './support.ts';

describe('the key check at the start', () => {
  let store: MemoryStore;

  beforeEach(async () => {
    store = new MemoryStore();
    await verifyKeyChecks(ringOf(OLD), store, 5);
  });

  it('stores a check value for each new key and then accepts the same ring', async () => {
    expect([...store.checks.keys()]).to.deep.equal([OLD]);
    await verifyKeyChecks(ringOf(NEW, OLD), store, 5);
    expect([...store.checks.keys()]).to.deep.equal([OLD, NEW]);
    await verifyKeyChecks(ringOf(NEW, OLD), store, 5);
    expect(store.checks.size).to.equal(2);
  });

  it('refuses another key under a known id, and writes nothing', async () => {
    const ring = parseKeyRing(`${keyLine(NEW)}\n${keyLine(OLD, 'another key')}`, 'keys');
    const failure = await failureOfAsync(() => verifyKeyChecks(ring, store, 5));
    expect(failure.code).to.equal('KEY_CHECK_FAILED');
    expect(failure.message).to.include(OLD).and.include('Start with the key file');
    expect([...store.checks.keys()]).to.deep.equal([OLD]);
  });

  it('refuses a truncated check value', async () => {
    store.checks.set(OLD, { kekId: OLD, check: Buffer.alloc(0), createdAt: 5 });
    expect((await failureOfAsync(() => verifyKeyChecks(ringOf(OLD), store, 5))).code).to.equal('KEY_CHECK_FAILED');
  });

  it('refuses a ring without a key that records are encrypted with, and writes nothing', async () => {
    store.put(OLD, { kind: 'value', context: VALUE, blob: Buffer.alloc(0) });
    const failure = await failureOfAsync(() => verifyKeyChecks(ringOf(NEW), store, 5));
    expect(failure.code).to.equal('UNKNOWN_KEY');
    expect(failure.message).to.include(`1 encrypted record needs the key ${OLD}`);
    expect([...store.checks.keys()]).to.deep.equal([OLD]);
  });

  it('ignores the check value of an unused key', async () => {
    await verifyKeyChecks(ringOf(NEW), store, 5);
    expect([...store.checks.keys()]).to.deep.equal([OLD, NEW]);
  });
});
