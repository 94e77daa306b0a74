import { expect } from 'chai';
import fc from 'fast-check';
import { rankTools } from '../../../core/discovery/rank-tools.ts';
import { createToolIndex } from '../../../core/discovery/tool-index.ts';
import { stem, wordsOf, wordsOfQuery } from '../../../core/discovery/words.ts';
import { ownTool } from '../../support/own-tools.ts';

describe('the words of tools and questions', () => {
  it('are the same for the forms of one word', () => {
    for (const forms of [
      ['issue', 'issues'],
      ['create', 'creates', 'created', 'creating'],
      ['reply', 'replies'],
      ['branch', 'branches'],
      ['message', 'messages', 'messaging'],
      ['schedule', 'scheduled', 'scheduling'],
      ['access', 'accesses'],
    ]) {
      expect(new Set(forms.map(stem)).size, forms.join()).to.equal(1);
    }
    expect(stem('status')).to.equal('status');
    expect(stem('string')).to.equal('string');
  });

  it('are found in identifiers, accented words, and any case', () => {
    expect(wordsOf('listOpenIssues')).to.deep.equal(['list', 'open', 'issu']);
    expect(wordsOf("Café's MENÜ")).to.deep.equal(['caf', 'menu'].map(stem));
    expect(wordsOf('')).to.deep.equal([]);
    expect(wordsOf('my To-Dos and e-mails')).to.deep.equal(wordsOf('my todos and emails'));
  });

  it('omit words that every question contains, unless the query has no others', () => {
    expect(wordsOfQuery('what is on my calendar')).to.deep.equal(['calendar']);
    expect(wordsOfQuery('what is it')).to.deep.equal(['what', 'is', 'it']);
  });
});

describe('the search index of tools', () => {
  const named = (name: string, title: string) => ownTool('mine', name, { title, tags: ['x'], description: '' });
  const found = (index: ReturnType<typeof createToolIndex>, query: string) =>
    rankTools([index], query).map(({ card }) => card.name);

  it('removes the old words of a changed tool, and a deleted tool', () => {
    const index = createToolIndex();
    index.put(named('mine_a', 'Alpha'), 'Mine');
    index.put(named('mine_b', 'Beta'), 'Mine');
    index.put(named('mine_a', 'Gamma'), 'Mine');
    expect(found(index, 'alpha')).to.deep.equal([]);
    expect(found(index, 'gamma')).to.deep.equal(['mine_a']);
    index.drop('mine_a');
    index.drop('mine_unknown');
    expect(found(index, 'gamma')).to.deep.equal([]);
    expect(index.cards().map(({ name }) => name)).to.deep.equal(['mine_b']);
  });

  describe('with tools of many different words', () => {
    const made = (from: number, count: number) =>
      Array.from(
        { length: count },
        (_, at) => `b${String(from + at).replaceAll(/./g, (digit) => 'cdfghjklmn'.charAt(Number(digit)))}`,
      );
    const described = (name: string, words: string[]) => ({ ...named(name, 'Alpha'), description: words.join(' ') });

    it('finds a tool by its first 200 words, of which its name and title have the first', () => {
      const index = createToolIndex();
      const words = made(1_000, 300);
      index.put(described('mine_large', words), 'Mine');
      const [first = '', last = ''] = [words[0], words.at(-1)];
      expect(found(index, 'alpha')).to.deep.equal(['mine_large']);
      expect([index.postings(first)?.length, index.postings(last)]).to.deep.equal([1, undefined]);
    });

    it('compares an unknown word of a query with 10,000 of their words', () => {
      const index = createToolIndex();
      index.put(named('mine_first', 'Bulletin'), 'Mine');
      for (let tool = 0; tool < 60; tool++)
        index.put(described(`mine_${tool}`, made(10_000 + 190 * tool, 190)), 'Mine');
      index.put(named('mine_last', 'Brochure'), 'Mine');
      expect([index.completions('bullet'), index.misspellings('buletin')]).to.deep.equal([['bulletin'], ['bulletin']]);
      expect([index.completions('brochu'), index.misspellings('brochur')]).to.deep.equal([[], []]);
      expect(found(index, 'brochure')).to.deep.equal(['mine_last']);
    });

    it('keeps 100,000 of their words', () => {
      const index = createToolIndex();
      for (let tool = 0; tool < 600; tool++)
        index.put(described(`mine_${tool}`, made(100_000 + 190 * tool, 190)), 'Mine');
      index.put(named('mine_late', 'Brochure alpha'), 'Mine');
      expect(found(index, 'brochure')).to.deep.equal([]);
      expect(found(index, 'late')).to.deep.equal([]);
      expect(index.postings('alpha')).to.have.length(601);
    });
  });

  it('finds a tool by its search words, after tools that have the word in their names', () => {
    const index = createToolIndex();
    index.put({ ...named('mine_a', 'Refund a payment'), search_words: 'money back' }, 'Mine');
    index.put(named('mine_money', 'Count money'), 'Mine');
    index.put(named('mine_c', 'Gamma'), 'Mine');
    expect(found(index, 'give the money back')).to.deep.equal(['mine_a', 'mine_money']);
    expect(found(index, 'money')).to.deep.equal(['mine_money', 'mine_a']);
  });

  it('finds a word with one typing mistake, if nothing has the word', () => {
    const index = createToolIndex();
    index.put(named('mine_a', 'Calendar'), 'Mine');
    index.put(named('mine_b', 'Gamma'), 'Mine');
    for (const mistake of ['calendr', 'calendaar', 'calemdar', 'claendar', 'calenadr']) {
      expect(found(index, mistake), mistake).to.deep.equal(['mine_a']);
    }
    for (const other of ['claendra', 'alendar', 'kalendar', 'golma', 'calnar']) {
      expect(found(index, other), other).to.deep.equal([]);
    }
  });

  it('stays the same for its users, regardless of how often tools are added and removed', () => {
    const index = createToolIndex();
    for (let round = 0; round < 30; round++) {
      for (let each = 0; each < 100; each++) index.put(named(`mine_${each}`, `Round ${round}`), 'Mine');
    }
    expect(index.size).to.equal(100);
    expect(index.end).to.be.below(1200);
    expect(rankTools([index], 'round 29')).to.have.length(100);
    expect(found(index, '13')).to.deep.equal(['mine_13']);
  });

  it('matches the beginning of a word if no tool has the whole word', () => {
    const index = createToolIndex();
    index.put(named('mine_a', 'Subscription'), 'Mine');
    expect(found(index, 'subscr')).to.deep.equal(['mine_a']);
  });

  it('does not count words that describe a related tool', () => {
    const index = createToolIndex();
    const description = 'Reads one thing. To paint it violet, use mine_paint_thing.';
    index.put(ownTool('mine', 'mine_get_thing', { description }), 'Mine');
    expect(found(index, 'violet')).to.deep.equal([]);
  });

  it('returns results for any text, in a stable order', () => {
    const index = createToolIndex();
    for (const each of ['alpha', 'beta', 'gamma delta']) index.put(named(`mine_${each.slice(0, 3)}`, each), 'Mine');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (query) => {
        expect(found(index, query)).to.deep.equal(found(index, query));
      }),
    );
  });

  it('ranks the same whether tools are in one index or in two', () => {
    const [one, left, right] = [createToolIndex(), createToolIndex(), createToolIndex()];
    const tools = ['alpha beta', 'alpha gamma', 'beta gamma', 'delta'].map((title, at) => named(`mine_${at}`, title));
    tools.forEach((tool, at) => {
      one.put(tool, 'Mine');
      (at % 2 ? left : right).put(tool, 'Mine');
    });
    expect(rankTools([left, right], 'alpha gamma')).to.deep.equal(rankTools([one], 'alpha gamma'));
  });
});
