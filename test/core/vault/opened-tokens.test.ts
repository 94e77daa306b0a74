import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import { createOpenedTokens } from '../../../core/vault/opened-tokens.ts';
import { createSealedTokens } from '../../../core/vault/sealed-token.ts';
import { seededRandom } from './support.ts';

const START = 1_800_000_000_000;
const EXPIRES = START + 60_000;
const BOUND = ['env_a', 'conn_a'];

describe('remembered tokens', () => {
  let time: number;
  let decrypted: number;
  const sealed = createSealedTokens(createSecretKey(seededRandom('key')(32)), () => time, seededRandom('tokens'));
  const counted: Pick<typeof sealed, 'openUntil'> = {
    openUntil(...token) {
      decrypted++;
      return sealed.openUntil(...token);
    },
  };
  const remembering = (max?: number) => createOpenedTokens(counted, () => time, max);
  const sealOne = (payload: string, bound = BOUND) => sealed.seal('session', bound, payload, EXPIRES);

  beforeEach(() => {
    time = START;
    decrypted = 0;
  });

  it('are decrypted once', () => {
    const tokens = remembering();
    const token = sealOne('Ada');
    const opened = [1, 2, 3].map(() => tokens.open('session', [...BOUND], token));
    expect(opened).to.deep.equal(['Ada', 'Ada', 'Ada']);
    expect(decrypted).to.equal(1);
  });

  it('are rejected as soon as they expire', () => {
    const tokens = remembering();
    const token = sealOne('Ada');
    time = EXPIRES - 1;
    expect(tokens.open('session', BOUND, token)).to.equal('Ada');
    time = EXPIRES;
    expect(tokens.open('session', BOUND, token)).to.equal(null);
    expect(tokens.open('session', BOUND, token)).to.equal(null);
  });

  it('are rejected for another purpose and another binding', () => {
    const tokens = remembering();
    const token = sealOne('Ada');
    expect(tokens.open('session', BOUND, token)).to.equal('Ada');
    expect(tokens.open('access', BOUND, token)).to.equal(null);
    for (const bound of [['env_a', 'conn_b'], ['env_a'], ['conn_a', 'env_a'], [...BOUND, '']]) {
      expect(tokens.open('session', bound, token), String(bound)).to.equal(null);
    }
    expect(tokens.open('session', BOUND, token)).to.equal('Ada');
  });

  it('are rejected when one character differs, wherever it is', () => {
    const tokens = remembering();
    const token = sealOne('Ada');
    expect(tokens.open('session', BOUND, token)).to.equal('Ada');
    for (let place = 0; place < token.length; place++) {
      const other = token[place] === 'A' ? 'B' : 'A';
      const altered = token.slice(0, place) + other + token.slice(place + 1);
      expect(tokens.open('session', BOUND, altered), `character ${place}`).to.equal(null);
    }
    expect(tokens.open('session', BOUND, token)).to.equal('Ada');
  });

  it('are limited in number; the least recently used one is decrypted again', () => {
    const tokens = remembering(2);
    const [first = '', second = '', third = ''] = ['Ada', 'Eve', 'Bob'].map((payload) => sealOne(payload));
    for (const token of [first, second, first, third, first]) tokens.open('session', BOUND, token);
    expect(decrypted).to.equal(3);
    expect(tokens.open('session', BOUND, second)).to.equal('Eve');
    expect(decrypted).to.equal(4);
  });

  it('are not remembered if they cannot be opened', () => {
    const tokens = remembering();
    const token = sealOne('Ada', ['env_b', 'conn_a']);
    for (let turn = 0; turn < 2; turn++) expect(tokens.open('session', BOUND, token)).to.equal(null);
    expect(decrypted).to.equal(2);
  });
});
