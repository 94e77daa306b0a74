import { expect } from 'chai';
import { type LoadVerdict, RefreshPace } from '../../../core/accounts/refresh-pace.ts';

describe('F10: the concurrency limit of a provider', () => {
  const start = () => new RefreshPace({ first: 4, most: 8 });

  /** Runs as many concurrent refreshes as the limit allows, all with the same duration and result. */
  function round(pace: RefreshPace, ms: number, verdict: LoadVerdict): void {
    const strides = Array.from({ length: pace.width }, () => pace.begin(pace.width));
    for (const stride of strides) pace.end(stride, ms, verdict);
  }

  it('doubles with each successful round, up to its maximum', () => {
    const pace = start();
    round(pace, 100, 'well');
    expect(pace.width).to.equal(8);
    round(pace, 100, 'well');
    expect(pace.width).to.equal(8);
  });

  it('halves once for all concurrent refreshes, and never goes below one', () => {
    const pace = start();
    for (const width of [2, 1, 1]) {
      round(pace, 100, 'strained');
      expect(pace.width).to.equal(width);
    }
  });

  it('grows by one with each round after it was reduced', () => {
    const pace = new RefreshPace({ first: 8, most: 100 });
    round(pace, 100, 'strained');
    const widths = [1, 2, 3, 4, 5].map(() => {
      round(pace, 100, 'well');
      return pace.width;
    });
    expect(widths).to.deep.equal([4, 5, 6, 7, 8]);
  });

  it('does not grow while responses are slower than before', () => {
    const pace = start();
    pace.end(pace.begin(1), 100, 'well');
    for (let count = 0; count < 10; count++) round(pace, 500, 'well');
    expect(pace.width).to.equal(4);
    for (let count = 0; count < 100; count++) round(pace, 500, 'well');
    expect(pace.width).to.equal(8);
  });

  it('does not change while slots stay free, or when no request was sent to the provider', () => {
    const pace = start();
    for (let count = 0; count < 10; count++) {
      pace.end(pace.begin(1), 100, 'well');
      round(pace, 1, 'unknown');
    }
    expect(pace.width).to.equal(4);
  });
});
