import { expect } from 'chai';
import fc from 'fast-check';
import { foldForSearch } from '../../db/accounts/fold.ts';
import type { NewAccount } from '../../db/store.ts';
import { account, addConnection, connection, github, NOW, openTestStore, type TestStore } from './support.ts';

/** A simple specification of the search: each code point is folded separately, and the query must be a substring. */
function oracle(text: string, query: string): boolean {
  const plain = (value: string) =>
    Array.from(value.toWellFormed(), (point) => point.toLowerCase().toUpperCase().toLowerCase())
      .join('')
      .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
  return plain(text).includes(plain(query));
}

describe('search', () => {
  let test: TestStore;
  let connectionId: string;

  beforeEach(async () => {
    test = await openTestStore();
    connectionId = await github(test);
  });

  afterEach(() => test.end());

  const add = async (identifiers: string[], over: Partial<NewAccount> = {}) => {
    const rows = identifiers.map((identifier) => account(test.newId, connectionId, { ...over, identifier }));
    await test.store.write(async (tx) => {
      for (const row of rows) await tx.accounts.insert(test.env, row);
    });
    return rows;
  };
  const search = (query: string, over = {}) =>
    test.store.read.accounts.search(test.env, { query, ...over }, { size: 100 });
  const found = async (query: string) => (await search(query)).rows.map((row) => row.identifier);

  it('finds text within the identifier, the provider and the connector, but not across them', async () => {
    const other = connection(test.newId, { keyId: 'team-mail', providerKey: 'gmail' });
    await addConnection(test.store, test.env, other);
    await add(['ada@one.org']);
    await add(['bob@two.org'], { connectionId: other.id, connector: 'team-mail', provider: 'gmail' });
    expect(await found('one.o')).to.deep.equal(['ada@one.org']);
    expect(await found('GMA')).to.deep.equal(['bob@two.org']);
    expect(await found('eam-Mai')).to.deep.equal(['bob@two.org']);
    expect(await found('.org')).to.deep.equal(['bob@two.org', 'ada@one.org']);
    expect(await found('orggit')).to.deep.equal([]);
    expect(await found('org\ngit')).to.deep.equal([]);
  });

  it('can be limited to a connection', async () => {
    const other = connection(test.newId, { keyId: 'second' });
    await addConnection(test.store, test.env, other);
    await add(['ada']);
    await add(['adam'], { connectionId: other.id, connector: 'second' });
    const page = await search('ada', { connectionId: other.id });
    expect(page.rows.map((row) => row.identifier)).to.deep.equal(['adam']);
    expect(page.total).to.equal(1);
  });

  it('takes every character literally (C6)', async () => {
    const literals = [
      '100%%%',
      'a___b',
      '"quoted"',
      "it's",
      'back\\slash',
      'a*b*c',
      '(x) OR (y)',
      'NEAR(a b)',
      '^start',
      '-not',
      'col:umn',
      '{curly}',
      'a+b',
      'a AND b',
    ];
    await add(literals);
    for (const literal of literals) expect(await found(literal), literal).to.deep.equal([literal]);
    for (const wild of ['%%%', '___', '***', 'a%b', 'a_b', 'a?b', '"""', '" OR "', "' or 1=1", 'a NOT b']) {
      expect(await found(wild), wild).to.deep.equal(literals.filter((text) => oracle(text, wild)).toReversed());
    }
  });

  const letters: [query: string, identifier: string, matches: boolean, why: string][] = [
    ['STRASSE', 'straße 1', true, 'ß is ss'],
    ['straße', 'STRASSE 1', true, 'ss is ß'],
    ['GROẞ', 'groß', true, 'ẞ is ß'],
    ['οδοσ', 'ΟΔΟΣ', true, 'Σ is σ'],
    ['ΟΔΌΣ', 'οδός x', true, 'Σ is final ς'],
    ['İstanbul', 'i̇stanbul', true, 'İ is i with a dot'],
    ['istanbul', 'İstanbul', false, 'the dot of İ stays'],
    ['ÉCOLE', 'école', true, 'an accent has a case'],
    ['ecole', 'école', false, 'an accent is not dropped'],
    ['cafe', 'cafe\u0301', true, 'a combining mark follows the letters that match'],
    ['café', 'cafe\u0301', false, 'composed is not decomposed'],
    ['ДМИТРИЙ', 'дмитрий', true, 'Cyrillic'],
    ['日本語', 'x日本語x', true, 'no case at all'],
    ['𐐀𐐁𐐂', '𐐨𐐩𐐪', true, 'case beyond the first plane'],
    ['😀😁😂', 'a😀😁😂b', true, 'three code points beyond the first plane'],
    ['Ᏸᏹx', 'ᏸᏹX', true, 'Cherokee, whose capitals came first'],
    ['ǅabc', 'ǆABC', true, 'title case'],
    ['ﬁne', 'FINE', true, 'a ligature is its letters'],
    ['K12', '\u212a12', true, 'the Kelvin sign is k'],
  ];
  for (const [query, identifier, matches, why] of letters) {
    it(`${matches ? 'finds' : 'does not find'} ${identifier} by ${query}: ${why}`, async () => {
      await add([identifier]);
      expect(await found(query)).to.deep.equal(matches ? [identifier] : []);
    });
  }

  it('accepts text that UTF-8 cannot encode', async () => {
    await add(['ab\ud800cd']);
    expect((await search('b\ud800c')).total).to.equal(1);
    expect((await search('b\udc00c')).total).to.equal(1);
    expect((await search('b\uffffc')).total).to.equal(1);
    expect((await search('ab\0')).total).to.equal(0);
  });

  it('folds every cased code point to a form that folding does not change, and that its other cases share', () => {
    // No letter beyond the second plane of Unicode has upper and lower case.
    for (let point = 0; point <= 0x1ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const text = String.fromCodePoint(point);
      const folded = foldForSearch(text);
      if (foldForSearch(folded) !== folded) expect.fail(`U+${point.toString(16)} folds twice`);
      const cases = [text.toLowerCase(), text.toUpperCase()].map(foldForSearch);
      if (cases.some((other) => other !== folded)) expect.fail(`U+${point.toString(16)} differs from its cases`);
      if ([...folded].length === 0) expect.fail(`U+${point.toString(16)} vanishes`);
    }
  });

  it('agrees with plain substring comparison on any text, in rows and total', async () => {
    const point = fc.oneof(
      fc.constantFrom(...'abABßẞıİiIσςΣéE\u0301%_"\'\\*() :^-+{}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
    );
    const printable = (text: string) => !/\p{Cc}/u.test(text);
    const text = fc
      .array(point, { minLength: 1, maxLength: 12 })
      .map((points) => points.join(''))
      .filter(printable);
    const cases = fc.constantFrom<(text: string) => string>(
      (same) => same,
      (same) => same.toUpperCase(),
      (same) => same.toLowerCase(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(text, { minLength: 1, maxLength: 12, selector: (value) => value.toWellFormed() }),
        fc.array(fc.tuple(fc.nat(), fc.nat(8), fc.integer({ min: 3, max: 8 }), cases), { minLength: 1, maxLength: 6 }),
        fc.array(text, { maxLength: 4 }),
        async (identifiers, cuts, others) => {
          const rows = await add(identifiers);
          const queries = cuts.map(([which, from, length, change]) => {
            const points = [...(identifiers[which % identifiers.length] ?? '')];
            return change(points.slice(from % points.length, (from % points.length) + length).join(''));
          });
          for (const query of [...queries, ...others].filter((query) => [...query].length >= 3)) {
            const expected = rows.filter((row) => [row.identifier, 'github'].some((field) => oracle(field, query)));
            const page = await search(query);
            expect(page.rows.map((row) => row.id)).to.deep.equal(expected.map((row) => row.id).toReversed());
            expect(page.total).to.equal(expected.length);
          }
          await test.store.write(async (tx) => {
            for (const row of rows) await tx.accounts.remove(test.env, row.id, NOW);
          });
        },
      ),
      { numRuns: 150 },
    );
    expect((await search('github')).total).to.equal(0);
  });

  it('keeps its index consistent with its table after inserts, removals and rolled back units', async () => {
    const rows = await add(Array.from({ length: 30 }, (_, i) => `user-${i}`));
    await test.store.write(async (tx) => {
      for (const row of rows.slice(5, 20)) await tx.accounts.remove(test.env, row.id, NOW);
    });
    await test.store
      .write(async (tx) => {
        for (const row of rows.slice(20, 25)) await tx.accounts.remove(test.env, row.id, NOW);
        throw new Error('undone');
      })
      .catch(() => {});
    expect((await search('user-')).total).to.equal(15);
    test.database.checkSearchIndex();
  });

  it('keeps its index consistent when units of one transaction insert, remove rows of others, and are rolled back', async () => {
    const [, second = '', third = ''] = (await Promise.all(['kept', 'gone', 'both'].map((name) => add([name]))))
      .flat()
      .map((row) => row.id);
    const undone = test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, account(test.newId, connectionId, { identifier: 'never' }));
      await tx.accounts.remove(test.env, second, NOW);
      throw new Error('undone');
    });
    const fresh = account(test.newId, connectionId, { identifier: 'fresh' });
    const units = [
      undone,
      test.store.write((tx) => tx.accounts.insert(test.env, fresh)),
      test.store.write((tx) => tx.accounts.remove(test.env, fresh.id, NOW)),
      test.store.write((tx) => tx.accounts.remove(test.env, third, NOW)),
      add(['last']),
    ];
    await Promise.allSettled(units);
    expect((await search('github')).rows.map((row) => row.identifier)).to.deep.equal(['last', 'gone', 'kept']);
    test.database.checkSearchIndex();
  });
});
