import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createCatalogue } from '../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import { rankTools } from '../../core/discovery/rank-tools.ts';
import { createToolIndex } from '../../core/discovery/tool-index.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { QUERIES } from './queries.ts';

const catalogue = createCatalogue(
  readCatalogueIndex(readFileSync(new URL('../../generated/catalogue.json', import.meta.url), 'utf8')),
);

describe('the search among tools', () => {
  const index = createToolIndex();
  for (const name of catalogue.toolNames()) {
    const tool = catalogue.peek(name) as Tool;
    index.put(tool, catalogue.connector(tool.connector)?.display_name ?? tool.connector);
  }

  it('is asked for tools that there are', () => {
    const unknown = QUERIES.flatMap(([, ...expected]) => expected).filter((name) => !catalogue.tool(name));
    expect(unknown).to.deep.equal([]);
  });

  it('puts what is meant among the first five for 54 of 60 questions, and first for 40', () => {
    const places = QUERIES.map(([query, ...expected]) =>
      rankTools([index], query).findIndex(({ card }) => expected.includes(card.name)),
    );
    expect(QUERIES).to.have.length(60);
    expect(places.filter((place) => place >= 0 && place < 5).length).to.be.at.least(54);
    expect(places.filter((place) => place === 0).length).to.be.at.least(40);
  });
});
