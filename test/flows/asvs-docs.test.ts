import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, readPage } from './markdown.ts';

/** Requirements of the levels 1 and 2 in each chapter of ASVS 5.0.0. */
const CHAPTERS = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];
const STATES = ['met', 'partly', 'not met', 'operator', 'n/a'];

describe('docs/asvs.md', () => {
  const rows = [
    ...readPage('docs/asvs.md').matchAll(/^\| (\d+)\.(\d+)\.(\d+) \| ([12]) \| (.+?) \| (.+?) \| (.*) \|$/gm),
  ].map(([, chapter = '', section = '', number = '', level = '', , state = '', last = '']) => ({
    id: `${chapter}.${section}.${number}`,
    place: [chapter, section, number].map(Number) as [number, number, number],
    level,
    state,
    files: [...last.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file as string),
    reason: last.replaceAll(/`test\/[^`]+`[,.]? ?/g, ''),
  }));

  it('lists every requirement once, in order', () => {
    expect(CHAPTERS.map((_count, index) => rows.filter(({ place }) => place[0] === index + 1).length)).to.deep.equal(
      CHAPTERS,
    );
    expect(rows.filter(({ level }) => level === '1')).to.have.length(70);
    expect(rows.filter(({ level }) => level === '2')).to.have.length(183);
    const sorted = rows.toSorted((a, b) => compare(a.place, b.place));
    expect(rows.map(({ id }) => id)).to.deep.equal([...new Set(sorted.map(({ id }) => id))]);
  });

  it('names a test for each met requirement, and a reason for all others', () => {
    const unproved = rows.filter(({ state, files, reason }) => (state === 'met' ? files.length === 0 : reason === ''));
    expect(unproved.map(({ id }) => id)).to.deep.equal([]);
    expect(rows.filter(({ state }) => !STATES.includes(state)).map(({ id }) => id)).to.deep.equal([]);
  });

  it('names tests that exist', () => {
    const files = rows.flatMap((row) => row.files);
    expect(files.length).to.be.above(200);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal([]);
  });
});

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((part, at) => part !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
