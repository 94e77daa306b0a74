import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import { digestClientSecret, mintClientSecret, verifyClientSecret } from '../../../core/tokens/client-secret.ts';
import type { Digester } from '../../../core/vault/digest.ts';
import { digester, seededRandom } from './support.ts';

const random = seededRandom('client secrets');
const current = mintClientSecret(random);
const previous = mintClientSecret(random);
const digestOf = (secret: Secret) => digestClientSecret(secret, digester);
const live = [digestOf(current), digestOf(previous)];
const verify = (presented: Secret, digests: readonly Buffer[]) => verifyClientSecret(presented, digests, digester);

describe('a client secret', () => {
  it('has a prefix and 256 random bits (T2)', () => {
    expect(current.reveal()).to.match(/^vks_[A-Za-z0-9_-]{43}$/);
    expect(mintClientSecret(() => Buffer.alloc(32, 0xff)).reveal()).to.equal(`vks_${'_'.repeat(42)}8`);
    expect(current.reveal()).to.not.equal(previous.reveal());
  });

  it('is accepted during a rotation if it is either of the two valid ones, and afterwards only if it is the new one (T6)', () => {
    expect(verify(current, live)).to.equal(true);
    expect(verify(previous, live)).to.equal(true);
    expect(verify(current, [digestOf(current)])).to.equal(true);
    expect(verify(previous, [digestOf(current)])).to.equal(false);
  });

  it('is refused when it is another, shorter, longer, empty, or a stored digest', () => {
    const text = current.reveal();
    for (const wrong of [
      '',
      text.slice(0, -1),
      `${text}A`,
      ` ${text}`,
      text.toUpperCase(),
      live[0]?.toString('hex') ?? '',
    ]) {
      expect(verify(new Secret(wrong), live), wrong).to.equal(false);
    }
  });

  it('is refused for a client without valid secrets', () => {
    expect(verify(current, [])).to.equal(false);
  });

  it('does not match an empty or damaged stored digest, or the filler of an empty slot', () => {
    expect(verify(current, [Buffer.alloc(0), Buffer.alloc(31)])).to.equal(false);
    const zero: Digester = { digest: () => Buffer.alloc(32), equal: digester.equal };
    expect(verifyClientSecret(current, [], zero)).to.equal(false);
  });

  it('takes the same work whether client and secret are known or not (T1)', () => {
    const workOf = (presented: Secret, digests: readonly Buffer[]): string[] => {
      const calls: string[] = [];
      const counting: Digester = {
        digest: (...parts) => {
          calls.push('digest');
          return digester.digest(...parts);
        },
        equal: (a, b) => {
          calls.push(`equal ${a.length} ${b.length}`);
          return digester.equal(a, b);
        },
      };
      verifyClientSecret(presented, digests, counting);
      return calls;
    };
    const expected = ['digest', 'equal 32 32', 'equal 32 32'];
    expect(workOf(current, live)).to.deep.equal(expected);
    expect(workOf(previous, live)).to.deep.equal(expected);
    expect(workOf(current, [digestOf(current)])).to.deep.equal(expected);
    expect(workOf(new Secret('wrong'), live)).to.deep.equal(expected);
    expect(workOf(current, [])).to.deep.equal(expected);
  });

  it('is never stored beside two others', () => {
    expect(() => verify(current, [...live, Buffer.alloc(32)])).to.throw(RangeError);
  });
});
