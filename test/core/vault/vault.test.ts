import { createDecipheriv } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { Secret } from '../../../core/secret.ts';
import { bindingDigest } from '../../../core/vault/binding-digest.ts';
import { sealedUnder } from '../../../core/vault/blob.ts';
import type { RecordContext, ValueContext } from '../../../core/vault/context.ts';
import { lengthPrefixed } from '../../../core/vault/length-prefix.ts';
import type { SealedRecord } from '../../../core/vault/vault.ts';
import { codeOf, failureOf, NEW, OLD, RECORD, ringOf, VALUE, vaultOf } from './support.ts';

const ring = ringOf(NEW, OLD);
const vault = vaultOf(ring);
const fields = { credentials: new Secret('{"token":"t-1"}'), extra: new Secret('second') };
const record = vault.sealRecord(RECORD, fields);
const value = vault.sealValue(VALUE, new Secret('client secret'));

function openBoth(context: RecordContext, sealed: SealedRecord): void {
  vault.open(context, 'credentials', sealed);
  vault.openRecord(context, sealed);
}

function* flips(blob: Buffer): Generator<Buffer> {
  for (let bit = 0; bit < blob.length * 8; bit++) {
    const flipped = Buffer.from(blob);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    yield flipped;
  }
}

describe('a sealed record', () => {
  it('can be decrypted, field by field and as a whole', () => {
    expect(vault.open(RECORD, 'extra', record).reveal()).to.equal('second');
    const opened = vault.openRecord(RECORD, record);
    expect(opened.credentials.reveal()).to.equal('{"token":"t-1"}');
    expect(opened.extra.reveal()).to.equal('second');
    expect(record.kekId).to.equal(NEW);
  });

  it('has a new data key and new nonces each time', () => {
    const again = vault.sealRecord(RECORD, fields);
    const both = { ...record, sealed: { ...record.sealed, credentials: again.sealed.credentials } };
    expect(codeOf(() => vault.open(RECORD, 'credentials', both))).to.equal('UNSEALABLE');
    expect(again.sealed.extra.equals(record.sealed.extra)).to.equal(false);
  });

  it('can be decrypted for any context and any text', () => {
    const name = fc.string({ unit: 'binary' });
    const text = fc.string({ unit: 'binary', maxLength: 300 }).filter((candidate) => candidate.isWellFormed());
    const contexts = fc.record({ table: name, environmentId: name, recordId: name, generation: fc.maxSafeNat() });
    fc.assert(
      fc.property(contexts, fc.dictionary(name, text), (place, texts) => {
        const context = { ...place, bindingDigest: RECORD.bindingDigest };
        const secrets = Object.fromEntries(Object.entries(texts).map(([field, plain]) => [field, new Secret(plain)]));
        const sealed = vault.sealRecord(context, secrets);
        const opened = vault.openRecord(context, sealed);
        expect(Object.keys(opened)).to.deep.equal(Object.keys(texts));
        for (const [field, plain] of Object.entries(texts)) {
          expect(opened[field]?.reveal()).to.equal(plain);
          expect(vault.open(context, field, sealed).reveal()).to.equal(plain);
        }
      }),
    );
  });

  it('treats a field named __proto__ like any other', () => {
    const sealed = vault.sealRecord(RECORD, Object.fromEntries([['__proto__', new Secret('x')]]));
    expect(vault.open(RECORD, '__proto__', sealed).reveal()).to.equal('x');
    expect(codeOf(() => vault.open(RECORD, 'toString', sealed))).to.equal('UNSEALABLE');
  });

  it('refuses text that UTF-8 would change', () => {
    expect(() => vault.sealRecord(RECORD, { credentials: new Secret('a\ud800') })).to.throw(TypeError);
  });

  it('consists of version, key id, nonce, ciphertext and tag, bound to its place', () => {
    const nothing = Buffer.alloc(0);
    const rows = ['connected_accounts', 'env_a', 'ca_a'];
    const read = (
      blob: Buffer,
      key: Buffer | import('node:crypto').KeyObject,
      before: string,
      after: (string | Buffer)[],
    ) => {
      expect(blob[0]).to.equal(1);
      const idEnd = 2 + blob.readUInt8(1);
      const keyId = blob.toString('latin1', 2, idEnd);
      const body = blob.subarray(idEnd);
      const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, 12), { authTagLength: 16 });
      const [field, ...rest] = after;
      decipher.setAAD(lengthPrefixed([before, ...rows, field ?? '', keyId, ...rest]));
      decipher.setAuthTag(body.subarray(-16));
      return { keyId, plaintext: Buffer.concat([decipher.update(body.subarray(12, -16)), decipher.final()]) };
    };
    const wrap = read(record.wrappedDataKey, ring.active.wrapping, 'valetkey data key 1', ['', '7', nothing]);
    expect(wrap.keyId).to.equal(NEW);
    const dataKey = wrap.plaintext.subarray(20);
    const opened = read(record.sealed.extra, dataKey, 'valetkey field 1', ['extra', '7', RECORD.bindingDigest]);
    expect(opened.keyId).to.equal(wrap.plaintext.toString('latin1', 0, 20));
    expect(opened.plaintext.toString()).to.equal('second');
  });
});

describe('a sealed record that was moved', () => {
  it('can be decrypted in its own place (control)', () => openBoth({ ...RECORD }, record));

  for (const [name, change] of [
    ['another table', { table: 'auth_requests' }],
    ['another environment', { environmentId: 'env_b' }],
    ['another account', { recordId: 'ca_b' }],
    ['a later generation', { generation: 8 }],
    ['an earlier generation', { generation: 6 }],
    ['another set of origins (P2)', { bindingDigest: bindingDigest(['https://api.example.org']) }],
    [
      'a larger set of origins (P2)',
      { bindingDigest: bindingDigest(['https://api.example.com', 'https://evil.example']) },
    ],
    ['no origins (P2)', { bindingDigest: bindingDigest([]) }],
    ['a shifted boundary between names', { environmentId: 'env_ac', recordId: 'a_a' }],
  ] as const) {
    it(`cannot be decrypted in ${name}`, () => {
      const elsewhere = { ...RECORD, ...change };
      expect(codeOf(() => vault.open(elsewhere, 'credentials', record))).to.equal('UNSEALABLE');
      expect(codeOf(() => vault.openRecord(elsewhere, record))).to.equal('UNSEALABLE');
    });
  }

  it('cannot be decrypted with the wrapped data key of another row, nor the other way round', () => {
    const other = vault.sealRecord({ ...RECORD, recordId: 'ca_b' }, fields);
    for (const mixed of [
      { ...record, wrappedDataKey: other.wrappedDataKey },
      { ...record, sealed: other.sealed },
    ]) {
      expect(codeOf(() => openBoth(RECORD, mixed))).to.equal('UNSEALABLE');
    }
  });

  it('cannot be decrypted with its fields exchanged', () => {
    const { credentials, extra } = record.sealed;
    const exchanged = { ...record, sealed: { credentials: extra, extra: credentials } };
    expect(codeOf(() => openBoth(RECORD, exchanged))).to.equal('UNSEALABLE');
  });

  it('cannot be decrypted with a field of an older generation', () => {
    const older = vault.sealRecord({ ...RECORD, generation: 6 }, fields);
    expect(codeOf(() => openBoth(RECORD, { ...record, sealed: older.sealed }))).to.equal('UNSEALABLE');
    expect(codeOf(() => openBoth(RECORD, older))).to.equal('UNSEALABLE');
  });

  it('cannot be decrypted with the key id of another known key', () => {
    const renamed = Buffer.from(record.wrappedDataKey);
    expect(renamed.indexOf(NEW)).to.equal(2);
    renamed.write(OLD, 2, 'latin1');
    expect(codeOf(() => openBoth(RECORD, { ...record, wrappedDataKey: renamed }))).to.equal('UNSEALABLE');
  });

  it('cannot be decrypted as a value, nor a value as a wrapped data key', () => {
    const place = { ...RECORD, field: '' };
    expect(codeOf(() => vault.openValue(place, record.wrappedDataKey))).to.equal('UNKNOWN_FORMAT');
    expect(codeOf(() => openBoth(RECORD, { ...record, wrappedDataKey: value.blob }))).to.equal('UNKNOWN_FORMAT');
  });

  it('cannot be decrypted with a field in the place of the wrapped data key', () => {
    const confused = { ...record, wrappedDataKey: record.sealed.credentials };
    expect(codeOf(() => openBoth(RECORD, confused))).to.equal('UNKNOWN_KEY');
  });
});

describe('a sealed record that was altered', () => {
  it('cannot be decrypted with any single bit flipped', () => {
    for (const wrappedDataKey of flips(record.wrappedDataKey))
      failureOf(() => openBoth(RECORD, { ...record, wrappedDataKey }));
    for (const credentials of flips(record.sealed.credentials)) {
      failureOf(() => openBoth(RECORD, { ...record, sealed: { ...record.sealed, credentials } }));
    }
  });

  it('cannot be decrypted when it is shortened or lengthened', () => {
    const alter = (blob: Buffer) => [
      ...Array.from(blob, (_, length) => blob.subarray(0, length)),
      Buffer.concat([blob, Buffer.alloc(1)]),
    ];
    for (const wrappedDataKey of alter(record.wrappedDataKey)) {
      expect(codeOf(() => openBoth(RECORD, { ...record, wrappedDataKey }))).to.be.oneOf(['UNSEALABLE', 'UNKNOWN_KEY']);
    }
    for (const credentials of alter(record.sealed.credentials)) {
      const altered = { ...record, sealed: { ...record.sealed, credentials } };
      expect(codeOf(() => openBoth(RECORD, altered))).to.equal('UNSEALABLE');
    }
  });

  it('reports a format of another version', () => {
    for (const version of [0, 2, 3, 255]) {
      const wrappedDataKey = Buffer.from(record.wrappedDataKey);
      wrappedDataKey.writeUInt8(version);
      expect(codeOf(() => openBoth(RECORD, { ...record, wrappedDataKey }))).to.equal('UNKNOWN_FORMAT');
    }
  });

  it('reports a key id that the ring lacks, and fails with another error when the key of that id differs', () => {
    expect(codeOf(() => vaultOf(ringOf(OLD)).open(RECORD, 'extra', record))).to.equal('UNKNOWN_KEY');
    const wrong = vault.sealRecord(RECORD, fields);
    wrong.wrappedDataKey.write(OLD, 2, 'latin1');
    expect(codeOf(() => vaultOf(ringOf(OLD)).open(RECORD, 'extra', wrong))).to.equal('UNSEALABLE');
  });

  it('fails with the same message for every cause, and without plaintext', () => {
    const altered = Buffer.from(record.sealed.credentials);
    altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1);
    const failures = [
      failureOf(() => vault.open({ ...RECORD, recordId: 'ca_b' }, 'credentials', record)),
      failureOf(() => vault.open(RECORD, 'credentials', { ...record, sealed: { credentials: altered } })),
      failureOf(() => vault.open(RECORD, 'missing', record)),
      failureOf(() => vault.open(RECORD, 'credentials', { ...record, wrappedDataKey: Buffer.alloc(0) })),
      failureOf(() => vault.openValue({ ...VALUE, field: 'other' }, value.blob)),
    ];
    expect(new Set(failures.map(({ message }) => message)).size).to.equal(1);
    for (const failure of failures) expect(inspect(failure, { depth: 10 })).to.not.include('t-1');
  });
});

describe('rewrap', () => {
  const oldVault = vaultOf(ringOf(OLD), 'old');
  const under = oldVault.sealRecord(RECORD, fields);

  it('encrypts the data key with the active key and does not change the fields', () => {
    const wrapped = vault.rewrap(RECORD, under.wrappedDataKey);
    expect(wrapped?.kekId).to.equal(NEW);
    const moved = { ...under, ...wrapped };
    expect(vaultOf(ringOf(NEW)).openRecord(RECORD, moved).credentials.reveal()).to.equal('{"token":"t-1"}');
  });

  it('returns null for what the active key encrypts', () => {
    expect(vault.rewrap(RECORD, record.wrappedDataKey)).to.equal(null);
    expect(vault.resealValue(VALUE, value.blob)).to.equal(null);
  });

  it('does the same for a value', () => {
    const old = oldVault.sealValue(VALUE, new Secret('client secret'));
    const moved = vault.resealValue(VALUE, old.blob);
    expect(moved?.kekId).to.equal(NEW);
    expect(
      vaultOf(ringOf(NEW))
        .openValue(VALUE, moved?.blob ?? Buffer.alloc(0))
        .reveal(),
    ).to.equal('client secret');
  });

  it('does not make a moved row valid in its new place', () => {
    const elsewhere = { ...RECORD, recordId: 'ca_b' };
    expect(codeOf(() => vault.rewrap(elsewhere, under.wrappedDataKey))).to.equal('UNSEALABLE');
    const old = oldVault.sealValue(VALUE, new Secret('client secret'));
    expect(codeOf(() => vault.resealValue({ ...VALUE, recordId: 'conn_b' }, old.blob))).to.equal('UNSEALABLE');
  });
});

describe('a sealed value', () => {
  it('can be decrypted for any context and any text', () => {
    const name = fc.string({ unit: 'binary' });
    const contexts = fc.record({ table: name, environmentId: name, recordId: name, field: name });
    const texts = name.filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(contexts, texts, (context, text) => {
        const sealed = vault.sealValue(context, new Secret(text));
        return vault.openValue(context, sealed.blob).reveal() === text && sealed.kekId === NEW;
      }),
    );
  });

  for (const change of [
    { table: 'deployment_secrets' },
    { environmentId: 'env_b' },
    { recordId: 'conn_b' },
    { field: 'private_key' },
    { recordId: 'conn_aclient', field: '_secret' },
  ] satisfies Partial<ValueContext>[]) {
    it(`cannot be decrypted with another ${Object.keys(change).join(' and ')}`, () => {
      expect(vault.openValue(VALUE, value.blob).reveal()).to.equal('client secret');
      expect(codeOf(() => vault.openValue({ ...VALUE, ...change }, value.blob))).to.equal('UNSEALABLE');
    });
  }

  it('cannot be decrypted with any single bit flipped, shortened or lengthened', () => {
    for (const blob of flips(value.blob)) failureOf(() => vault.openValue(VALUE, blob));
    for (let length = 0; length < value.blob.length; length++) {
      failureOf(() => vault.openValue(VALUE, value.blob.subarray(0, length)));
    }
    failureOf(() => vault.openValue(VALUE, Buffer.concat([value.blob, Buffer.alloc(1)])));
  });

  it('returns the id of its key', () => {
    expect([sealedUnder(value.blob), sealedUnder(record.wrappedDataKey)]).to.deep.equal([NEW, NEW]);
  });

  it('is never the same twice', () => {
    const again = vault.sealValue(VALUE, new Secret('client secret'));
    expect(again.blob.equals(value.blob)).to.equal(false);
  });
});
