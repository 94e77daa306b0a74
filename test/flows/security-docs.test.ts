import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, readPage, sectionOf } from './markdown.ts';

const WHOLE = readPage('docs/security.md');
// Weaknesses have separate ids, see review-docs.test.ts.
const PAGE = WHOLE.replace(sectionOf(WHOLE, 'Weaknesses found in review'), '');
const ROWS = [...PAGE.matchAll(/^\| ([A-Z]\d{1,2}) \|.*\| ([^|]+) \|$/gm)].map(([, id, proof]) => ({
  id: id as string,
  files: [...(proof as string).matchAll(/`([^`]+)`/g)].map(([, file]) => file as string),
}));

describe('docs/security.md', () => {
  for (const { id, files } of ROWS) {
    it(`names tests that say they prove ${id}`, () => {
      expect(files).not.to.deep.equal([]);
      const silent = files.filter((file) => !idsIn(readFileSync(join(ROOT, file), 'utf8')).has(id));
      // Tests in test/system need not name the id, because one of them can prove policies of several ids.
      expect(silent.filter((file) => !file.startsWith('test/system/'))).to.deep.equal([]);
    });
  }

  it('lists every id that a test claims to prove', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.test.ts'),
    );
    const proved = new Set(tests.flatMap((name) => [...idsIn(readFileSync(join(ROOT, 'test', name), 'utf8'))]));
    const known = idsIn(WHOLE.replaceAll(/([A-Z])(\d+) to \1(\d+)/g, everyIdBetween));
    expect([...proved].filter((id) => !known.has(id)).toSorted()).to.deep.equal([]);
  });
});

function idsIn(text: string): Set<string> {
  return new Set([...text.matchAll(/(?<!%)\b([ALTCPERSMU]\d{1,2})\b/g)].map(([, id]) => id as string));
}

function everyIdBetween(_range: string, letter: string, from: string, to: string): string {
  const count = Number(to) - Number(from) + 1;
  return Array.from({ length: count }, (_item, index) => `${letter}${Number(from) + index}`).join(' ');
}
