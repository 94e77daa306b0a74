import { expect } from 'chai';
import { createRandom } from '../../core/random.ts';

describe('random bytes', () => {
  /** A source of numbers of four bytes each, without repetition. */
  function counting() {
    let next = 0;
    const asked: number[] = [];
    const source = (size: number) => {
      asked.push(size);
      const bytes = Buffer.alloc(size);
      for (let place = 0; place + 4 <= size; place += 4) bytes.writeUInt32BE(next++, place);
      return bytes;
    };
    return { random: createRandom(source), asked };
  }

  it('are never returned twice', () => {
    const { random } = counting();
    const taken = Array.from({ length: 5000 }, () => random(4).readUInt32BE());
    expect(new Set(taken).size).to.equal(5000);
  });

  it('are read from the source rarely for small requests, and each time for large ones', () => {
    const { random, asked } = counting();
    for (let time = 0; time < 100; time++) random(16);
    random(1000);
    expect(asked).to.deep.equal([4096, 1000]);
  });

  it('are not kept after they were returned, and share no memory with the buffer', () => {
    const { random } = counting();
    const first = random(8);
    const second = random(8);
    first.fill(255);
    expect([second.readUInt32BE(0), second.readUInt32BE(4)]).to.deep.equal([2, 3]);
  });
});
