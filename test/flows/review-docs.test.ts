import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, readPage, sectionOf } from './markdown.ts';

const OPEN = 'not repaired yet';
const upTo = (letter: string, last: number) => Array.from({ length: last }, (_item, index) => `${letter}${index + 1}`);
const IDS: Record<string, string[]> = {
  'docs/security.md': [...upTo('H', 8), ...upTo('M', 10), ...upTo('L', 8)],
  'docs/reliability.md': upTo('F', 17),
  'docs/clients.md': upTo('X', 20),
};

interface Row {
  id: string;
  fault: string;
  proof: string;
}

const rowsOf = (page: string): Row[] =>
  [...sectionOf(readPage(page), 'Weaknesses found in review').matchAll(/^\| ([A-Z]\d+) \| (.+) \| (.+) \|$/gm)].map(
    ([, id = '', fault = '', proof = '']) => ({ id, fault, proof }),
  );
const filesOf = ({ proof }: Row): string[] => [...proof.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file as string);

describe('the weaknesses that the documents list', () => {
  for (const [page, ids] of Object.entries(IDS)) {
    const rows = rowsOf(page);

    it(`are all in ${page}, each with a sentence`, () => {
      expect(rows.map(({ id }) => id)).to.deep.equal(ids);
      expect(rows.filter(({ fault }) => !/^\S.{20,}\.$/.test(fault)).map(({ id }) => id)).to.deep.equal([]);
    });

    it(`have tests in ${page} whose titles name them`, () => {
      const repaired = rows.filter(({ proof }) => proof !== OPEN);
      expect(repaired.filter((row) => filesOf(row).length === 0).map(({ id }) => id)).to.deep.equal([]);
      const silent = repaired.flatMap((row) =>
        filesOf(row).filter((file) => !existsSync(join(ROOT, file)) || !idsOfTitles(file).has(row.id)),
      );
      expect(silent).to.deep.equal([]);
    });
  }

  it('are named in titles, and nowhere else', () => {
    const source = "// H1\ndescribe('H2, M9: a', () => {\n  it(\n    `b (X3)`, () => {}); it('C17 %H4', () => 'H5');";
    expect([...idsIn(source)]).to.deep.equal(['H2', 'M9', 'X3']);
  });

  it('include each one that a test names', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !name.endsWith('review-docs.test.ts'))
      .map((name) => `test/${name}`);
    // The letters L and M are also used for ids of threats.
    const named = new Set(tests.flatMap((file) => [...idsOfTitles(file)].filter((id) => /^[HFX]/.test(id))));
    const proved = Object.keys(IDS).flatMap((page) => rowsOf(page).filter(({ proof }) => proof !== OPEN));
    for (const { id } of proved) named.delete(id);
    expect([...named]).to.deep.equal([]);
  });
});

function idsOfTitles(file: string): Set<string> {
  return idsIn(readFileSync(join(ROOT, file), 'utf8'));
}

function idsIn(source: string): Set<string> {
  const titles = [...source.matchAll(/\b(?:describe|it)\(\s*(['"`])(.*?)\1/gs)].map(([, , title]) => title as string);
  return new Set(titles.flatMap((title) => [...title.matchAll(/(?<!%)\b[HMLFX]\d{1,2}\b/g)].map(([id]) => id)));
}
