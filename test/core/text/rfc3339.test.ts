import { expect } from 'chai';
import fc from 'fast-check';
import { rfc3339, timeOf } from '../../../core/text/rfc3339.ts';

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

describe('timeOf', () => {
  it('reads every time that the format allows', () => {
    const times = {
      '2026-11-20T09:15:00Z': '2026-11-20T09:15:00.000Z',
      '2026-11-20t09:15:00.25+01:00': '2026-11-20T08:15:00.250Z',
      '2016-12-31T23:59:60Z': '2017-01-01T00:00:00.000Z',
      '2016-12-31T23:59:60.5Z': '2017-01-01T00:00:00.500Z',
      '2017-01-01T08:59:60+09:00': '2017-01-01T00:00:00.000Z',
    };
    expect(Object.keys(times).map((text) => rfc3339(timeOf(text)))).to.deep.equal(Object.values(times));
  });

  it('returns undefined for undefined, and NaN for a text that is not a time', () => {
    expect([timeOf(undefined), timeOf('tomorrow'), timeOf('2016-12-31T23:59:61Z')]).to.deep.equal([
      undefined,
      Number.NaN,
      Number.NaN,
    ]);
  });
});
