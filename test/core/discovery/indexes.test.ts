import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { createToolIndexes } from '../../../core/discovery/indexes.ts';
import { createOverlaidTools } from '../../../core/discovery/overlaid-tools.ts';
import { createOwnTools } from '../../../core/discovery/own-tools.ts';
import { openTestStore, type TestStore, tool } from '../../db/support.ts';
import { ROOT } from '../../flows/markdown.ts';
import { ownTool } from '../../support/own-tools.ts';

/** The number of tools that may be indexed without a pause for other work. */
const PIECE = 25;

describe('L7: the first index of the tools of an environment', () => {
  const catalogue = createCatalogue(readCatalogueIndex(readFileSync(join(ROOT, 'generated/catalogue.json'), 'utf8')));
  const overlaidTools = createOverlaidTools(catalogue, createOwnTools());
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });
  afterEach(() => test.end());

  /** Counts the turns of the event loop until a promise is settled. */
  async function turnsDuring(work: Promise<unknown>): Promise<number> {
    let turns = 0;
    let isRunning = true;
    const turn = () => {
      turns += 1;
      if (isRunning) setImmediate(turn);
    };
    setImmediate(turn);
    await work.finally(() => {
      isRunning = false;
    });
    return turns;
  }

  it('is built in pieces, and other work runs between them', async () => {
    const count = 1_000;
    const rows = Array.from({ length: count }, (_row, number) => {
      const name = `mine_get_thing_${number}`;
      return tool(name, { definition: ownTool('mine', name) });
    });
    await test.store.write((tx) => tx.environmentTools.upsert(test.env, rows));
    const indexes = createToolIndexes(catalogue, overlaidTools);
    const turns = await turnsDuring(indexes.of(test.store.read, test.env));
    expect(turns).to.be.at.least(Math.floor((catalogue.toolNames().length + count) / PIECE) - 2);
    const {
      all: [, own],
    } = await indexes.of(test.store.read, test.env);
    expect(own?.size).to.equal(count);
  });

  it('is not read from the store again while nothing has changed', async () => {
    const indexes = createToolIndexes(catalogue, overlaidTools);
    await indexes.of(test.store.read, test.env);
    expect(await turnsDuring(indexes.of(test.store.read, test.env))).to.be.below(PIECE);
  });
});
