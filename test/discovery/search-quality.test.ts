import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createCatalogue } from '../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import { rankTools } from '../../core/discovery/rank-tools.ts';
import { createToolIndex } from '../../core/discovery/tool-index.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { QUERIES } from './queries.ts';
import { EVERYDAY_QUERIES } from './queries-everyday.ts';
import { HELD_APART } from './queries-held-apart.ts';
import { HELD_APART_MORE } from './queries-held-apart-more.ts';
import { HELD_APART_THIRD } from './queries-held-apart-third.ts';
import { NEW_QUERIES } from './queries-new.ts';
import { SMALL_QUERIES } from './queries-small.ts';
import { WIDE_QUERIES } from './queries-wide.ts';
import { TASKS } from './tasks.ts';

const catalogue = createCatalogue(
  readCatalogueIndex(readFileSync(new URL('../../generated/catalogue.json', import.meta.url), 'utf8')),
);

const ALL = [
  ...QUERIES,
  ...WIDE_QUERIES,
  ...NEW_QUERIES,
  ...EVERYDAY_QUERIES,
  ...HELD_APART,
  ...HELD_APART_MORE,
  ...SMALL_QUERIES,
  ...HELD_APART_THIRD,
];

describe('the search for tools', () => {
  const index = createToolIndex();
  for (const name of catalogue.toolNames()) {
    const tool = catalogue.peek(name) as Tool;
    index.put(tool, catalogue.connector(tool.connector)?.display_name ?? tool.connector);
  }

  it('has test questions about existing tools only', () => {
    const names = [...ALL.flatMap(([, ...expected]) => expected), ...TASKS.flatMap(([, ...steps]) => steps.flat())];
    const unknown = names.filter((name) => !catalogue.tool(name));
    expect(unknown).to.deep.equal([]);
  });

  it('has every test question once, because a separate question must not be among those for tuning', () => {
    const questions = ALL.map(([query]) => query);
    expect(questions.filter((query, at) => questions.indexOf(query) !== at)).to.deep.equal([]);
  });

  it('has a third of the test questions apart from those for tuning', () => {
    const apart = [...HELD_APART, ...HELD_APART_MORE, ...SMALL_QUERIES, ...HELD_APART_THIRD].length;
    expect(apart / ALL.length).to.be.at.least(1 / 3);
  });

  it('has at least five different test questions about every connector of the catalogue', () => {
    const questions = new Map([...catalogue.toolNames()].map((name) => [connectorOf(name), new Set<string>()]));
    for (const [query, first] of ALL) questions.get(connectorOf(first as string))?.add(query);
    const short = [...questions].filter(([, queries]) => queries.size < 5).map(([connector]) => connector);
    expect(questions.size).to.be.at.least(110);
    expect(short).to.deep.equal([]);
  });

  it('ranks the expected tool among the first five for 57 of 60 questions, and first for 52', () => {
    const places = QUERIES.map(([query, ...expected]) =>
      rankTools([index], query).findIndex(({ card }) => expected.includes(card.name)),
    );
    expect(QUERIES).to.have.length(60);
    expect(places.filter((place) => place >= 0 && place < 5).length).to.be.at.least(57);
    expect(places.filter((place) => place === 0).length).to.be.at.least(52);
  });

  it('ranks the expected tool among the first five for 95 % of all open questions, and first for 90 %', () => {
    const places = placesOf([...QUERIES, ...WIDE_QUERIES, ...NEW_QUERIES]);
    expect(places).to.have.length(419);
    expect(shareBelow(places, 5)).to.be.at.least(0.95);
    expect(shareBelow(places, 1)).to.be.at.least(0.9);
  });

  it('ranks the expected tool among the first five for 97 % of the questions in everyday words, and first for 86 %', () => {
    const places = placesOf(EVERYDAY_QUERIES);
    expect(places).to.have.length(329);
    expect(shareBelow(places, 5)).to.be.at.least(0.97);
    expect(shareBelow(places, 1)).to.be.at.least(0.86);
  });

  it('ranks the held-out questions no worse than when they were measured', () => {
    const places = placesOf([...HELD_APART, ...HELD_APART_MORE]);
    expect(places).to.have.length(171);
    expect(shareBelow(places, 5)).to.be.at.least(0.98);
    expect(shareBelow(places, 1)).to.be.at.least(0.86);
  });

  it('ranks the expected tool among the first five for 95 % of the questions about further connectors, and first for 80 %', () => {
    const places = WIDE_QUERIES.map(([query, ...expected]) =>
      rankTools([index], query).findIndex(({ card }) => expected.includes(card.name)),
    );
    if (process.env['SHOW_RANKS']) {
      for (const [at, place] of places.entries()) if (place !== 0) console.log(place, WIDE_QUERIES[at]);
      console.log(
        places.filter((place) => place === 0).length,
        places.filter((place) => place >= 0 && place < 5).length,
        places.length,
      );
    }
    expect(places.filter((place) => place >= 0 && place < 5).length).to.be.at.least(0.95 * WIDE_QUERIES.length);
    expect(places.filter((place) => place === 0).length).to.be.at.least(0.8 * WIDE_QUERIES.length);
  });

  it('ranks the expected tool among the first five for 95 % of the questions about the newest connectors, and first for 80 %', () => {
    const places = NEW_QUERIES.map(([query, ...expected]) =>
      rankTools([index], query).findIndex(({ card }) => expected.includes(card.name)),
    );
    if (process.env['SHOW_RANKS']) {
      for (const [at, place] of places.entries()) if (place !== 0) console.log(place, NEW_QUERIES[at]);
    }
    expect(places.filter((place) => place >= 0 && place < 5).length).to.be.at.least(0.95 * NEW_QUERIES.length);
    expect(places.filter((place) => place === 0).length).to.be.at.least(0.8 * NEW_QUERIES.length);
  });

  it('ranks the questions about the connectors with few other questions no worse than when they were measured', () => {
    const places = placesOf(SMALL_QUERIES);
    expect(places).to.have.length(73);
    expect(shareBelow(places, 5)).to.be.at.least(0.94);
    expect(shareBelow(places, 1)).to.be.at.least(0.76);
  });

  it('ranks the questions that make a third of separate ones no worse than when they were measured', () => {
    const places = placesOf(HELD_APART_THIRD);
    expect(places).to.have.length(134);
    expect(shareBelow(places, 5)).to.be.at.least(0.97);
    expect(shareBelow(places, 1)).to.be.at.least(0.82);
  });

  it('ranks the expected tool among the first five for 97 % of all questions together, and first for 87 %', () => {
    const places = placesOf(ALL);
    expect(shareBelow(places, 5)).to.be.at.least(0.97);
    expect(shareBelow(places, 1)).to.be.at.least(0.87);
  });

  it('finds all tools of 20 of 24 tasks with several steps among the first ten', () => {
    const whole = TASKS.filter(([task, ...steps]) => {
      const found = new Set(
        rankTools([index], task)
          .map(({ card }) => card.name)
          .slice(0, 10),
      );
      return steps.every((names) => names.some((name) => found.has(name)));
    });
    expect(TASKS).to.have.length(24);
    expect(whole.length).to.be.at.least(20);
  });

  function connectorOf(name: string): string {
    return (catalogue.peek(name) as Tool).connector;
  }

  function placesOf(questions: readonly (readonly [string, ...string[]])[]): number[] {
    return questions.map(([query, ...expected]) =>
      rankTools([index], query).findIndex(({ card }) => expected.includes(card.name)),
    );
  }

  function shareBelow(places: readonly number[], limit: number): number {
    return places.filter((place) => place >= 0 && place < limit).length / places.length;
  }
});
