import { expect } from 'chai';
import { LIST, POSTGRES } from '../../../core/budgets.ts';
import { countInSlices, rowsInSlices, type SliceReader } from '../../../db/slices.ts';

/** A list of numbers from 1, of which every `each`th matches. Records the number of candidates of each slice. */
function listOf(length: number, each: number) {
  const read: number[] = [];
  const matches = (from: number | undefined, to: number | undefined) =>
    Array.from({ length: Math.floor((to ?? length) / each) }, (_, place) => (place + 1) * each).filter(
      (row) => row > (from ?? 0),
    );
  const reader: SliceReader<number, number> = {
    async endOfSlice(from = 0, size) {
      read.push(Math.min(size, length - from));
      return from + size <= length ? from + size : undefined;
    },
    rows: async (from, to, limit) => matches(from, to).slice(0, limit ?? undefined),
    count: async (from, to, limit) => Math.min(matches(from, to).length, limit ?? Number.POSITIVE_INFINITY),
  };
  return { reader, read };
}

const yieldToEventLoop = async () => {};

describe('F6: the slices of a list', () => {
  const growing = { slice: 10, largestSlice: 40, counted: 1000, countedSlices: 5 };
  const equal = { slice: 10, counted: 1000, countedSlices: 5 };

  it('double up to the largest one, until enough rows were found', async () => {
    const { reader, read } = listOf(1000, 100);
    const found = await rowsInSlices(reader, { limits: growing, yieldToEventLoop }, undefined, 2);
    expect(found).to.deep.equal([100, 200]);
    expect(read).to.deep.equal([10, 20, 40, 40, 40, 40, 40]);
  });

  it('have the same size if no larger one is set, as where a statement blocks the event loop', async () => {
    const { reader, read } = listOf(35, 100);
    expect(await rowsInSlices(reader, { limits: equal, yieldToEventLoop }, undefined, 2)).to.deep.equal([]);
    expect(read).to.deep.equal([10, 10, 10, 5]);
  });

  for (const [title, limits, sizes] of [
    ['growing', growing, [10, 20, 20]],
    ['equal', equal, [10, 10, 10, 10, 10]],
  ] as const) {
    it(`count the matches of the same candidates if they are ${title}`, async () => {
      const { reader, read } = listOf(1000, 5);
      const total = await countInSlices(reader, { limits, yieldToEventLoop }, 1000);
      expect(total).to.deep.equal({ total: 10, totalIsExact: false });
      expect(read).to.deep.equal(sizes);
    });
  }

  it('are at most 21 on PostgreSQL for a million records without a match, instead of 489', async () => {
    const { reader, read } = listOf(1_000_000, 2_000_000);
    const limits = { ...LIST, largestSlice: POSTGRES.largestSlice };
    expect(await rowsInSlices(reader, { limits, yieldToEventLoop }, undefined, 50)).to.deep.equal([]);
    expect(read.length).to.be.at.most(21);
  });
});
