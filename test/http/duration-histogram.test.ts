import { expect } from 'chai';
import { Histogram, Registry } from 'prom-client';
import { DurationHistogram } from '../../http/monitoring/duration-histogram.ts';

const [NAME, HELP, BUCKETS] = ['seconds', 'Time of something', [0.001, 0.5, 1]];

describe('the histogram of durations', () => {
  it("returns the same text as the library's for the same values", async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const labelNames = ['operation', 'status'] as const;
    const own = new DurationHistogram(NAME, HELP, labelNames, BUCKETS);
    own.registerIn(ours);
    const other = new Histogram({
      name: NAME,
      help: HELP,
      labelNames: [...labelNames],
      buckets: BUCKETS,
      registers: [theirs],
    });
    const seen: [string, number, number][] = [
      ['list', 200, 0.0005],
      ['list', 200, 0.001],
      ['list', 200, 0.75],
      ['list', 401, 1],
      ['get', 200, 31],
      ['get', 200, 0],
    ];
    for (const [operation, status, seconds] of seen) {
      own.observe(operation, status, seconds);
      other.labels(operation, String(status)).observe(seconds);
    }
    const linesOf = async (registry: Registry) => (await registry.metrics()).trim().split('\n').sort();
    expect(await linesOf(ours)).to.deep.equal(await linesOf(theirs));
  });
});
