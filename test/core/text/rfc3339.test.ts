import { expect } from 'chai';
import fc from 'fast-check';
import { rfc3339 } from '../../../core/text/rfc3339.ts';

describe('rfc3339', () => {
  it('formats every time as Date does, after any previous time', () => {
    const time = fc.integer({ min: -62_135_596_800_000, max: 8_640_000_000_000_000 });
    fc.assert(
      fc.property(fc.array(fc.oneof(time, fc.integer({ min: 0, max: 86_400_000 })), { minLength: 1 }), (times) => {
        expect(times.map(rfc3339)).to.deep.equal(times.map((ms) => new Date(ms).toISOString()));
      }),
    );
  });
});
