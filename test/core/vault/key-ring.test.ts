import { inspect } from 'node:util';
import { expect } from 'chai';
import { generateKey, parseKeyRing } from '../../../core/vault/key-ring.ts';
import { codeOf, failureOf, keyLine, seededRandom } from './support.ts';

const A = 'kek_aaaaaaaa';
const B = 'kek_bbbbbbbb';
const base64 = (size: number, byte = 1) => Buffer.alloc(size, byte).toString('base64');

describe('the key ring', () => {
  it('uses the first key as the active one and keeps the others for decryption', () => {
    const ring = parseKeyRing(`# comment\n\n  ${keyLine(A)}  \r\n${keyLine(B)}\n`, 'keys');
    expect(ring.active.id).to.equal(A);
    expect(ring.ids).to.deep.equal([A, B]);
    expect(ring.get(B)?.id).to.equal(B);
    expect(ring.get('kek_cccccccc')).to.equal(undefined);
  });

  it('derives a separate key for each use, and never uses the key itself', () => {
    const bytes = Buffer.alloc(32, 9);
    const { active } = parseKeyRing(`${A}:${bytes.toString('base64')}`, 'keys');
    const derived = [active.wrapping.export(), active.sealing.export(), active.check, bytes];
    expect(new Set(derived.map((key) => key.toString('hex'))).size).to.equal(4);
  });

  it('is refused without a key', () => {
    for (const text of ['', '\n\n', '# kek_aaaaaaaa:AAAA'])
      expect(codeOf(() => parseKeyRing(text, 'keys'))).to.equal('NO_KEY');
  });

  for (const [name, line, reason] of [
    ['no colon', 'kek_aaaaaaaa', 'expected kek_'],
    ['a bare key', base64(32), 'expected kek_'],
    ['another prefix', `key_aaaaaaaa:${base64(32)}`, 'expected kek_'],
    ['an id of 7 characters', `kek_aaaaaaa:${base64(32)}`, 'expected kek_'],
    ['an id of 33 characters', `kek_${'a'.repeat(33)}:${base64(32)}`, 'expected kek_'],
    ['an id with a dot', `kek_aaaa.aaaa:${base64(32)}`, 'expected kek_'],
    ['white space inside', `${A}: ${base64(32)}`, 'expected kek_'],
    ['31 bytes', `${A}:${base64(31)}`, '31 bytes'],
    ['33 bytes', `${A}:${base64(33)}`, '33 bytes'],
    ['no bytes', `${A}:=`, 'not base64'],
    ['missing padding', `${A}:${base64(32).slice(0, -1)}`, 'not base64'],
    ['base64url', `${A}:${Buffer.alloc(32, 0xff).toString('base64url')}=`, 'not base64'],
    ['stray bits in the last character', `${A}:${base64(32, 0xff).replace('8=', '9=')}`, 'not base64'],
    ['a zero key', `${A}:${base64(32, 0)}`, 'all zero'],
    ['an id given before', keyLine(B, 'another key'), 'duplicate key id'],
    ['a key given before', keyLine(A, B), 'same key with another id'],
  ] as const) {
    it(`refuses ${name}, and names the line without its content`, () => {
      const failure = failureOf(() => parseKeyRing(`# first\n${keyLine(B)}\n${line}\n`, 'keys'));
      expect(failure.code).to.equal('KEY_FORMAT');
      expect(failure.message).to.include('keys, line 3: ').and.include(reason);
      const secret = line.slice(-20);
      expect(inspect(failure, { depth: 10 })).to.not.include(secret);
    });
  }

  it('generates keys that it can read again', () => {
    const { key, line } = generateKey(seededRandom());
    const ring = parseKeyRing(line.reveal(), 'keys');
    expect(ring.active.id).to.equal(key.id);
    expect(ring.active.check).to.deep.equal(key.check);
    expect(String(line)).to.equal('[secret]');
  });

  it('shows no key material when it is printed', () => {
    const bytes = Buffer.alloc(32, 0xab);
    const printed = inspect(parseKeyRing(`${A}:${bytes.toString('base64')}`, 'keys'), { depth: 10, showHidden: true });
    for (const encoding of ['hex', 'base64', 'latin1'] as const)
      expect(printed).to.not.include(bytes.toString(encoding));
    expect(printed).to.not.include('ab ab ab');
  });
});
