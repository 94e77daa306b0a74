import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { chooseTools } from '../../../core/discovery/choose-tools.ts';
import { createToolIndex, type ToolCard } from '../../../core/discovery/tool-index.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import { ROOT } from '../../flows/markdown.ts';
import { ownTool } from '../../support/own-tools.ts';

describe('the choice of the tools that a model sees first', () => {
  const READS = { read_only: true, destructive: false, idempotent: true, open_world: true };
  const WRITES = { ...READS, read_only: false };
  const DESTROYS = { ...WRITES, destructive: true };

  const cardsOf = (tools: readonly Tool[]): ToolCard[] => {
    const index = createToolIndex();
    for (const tool of tools) index.put(tool, 'Acme');
    return [...index.cards()];
  };
  const namesOf = (cards: readonly ToolCard[]) => cards.map(({ name }) => name);
  const acme = cardsOf([
    ownTool('acme', 'acme_list_bills', { tags: ['bills'], hints: READS }),
    ownTool('acme', 'acme_list_bill_lines', { tags: ['bills'], hints: READS }),
    ownTool('acme', 'acme_add_bill', { tags: ['bills'], hints: WRITES }),
    ownTool('acme', 'acme_drop_bill', { tags: ['bills'], hints: DESTROYS }),
    ownTool('acme', 'acme_list_staff', { tags: ['staff'], hints: READS }),
    ownTool('acme', 'acme_add_staff', { tags: ['staff'], hints: WRITES }),
  ]);

  it('keeps all tools if there are few', () => {
    expect(chooseTools(acme, new Map(), acme.length)).to.deep.equal(acme);
  });

  it('takes tools that read and that write of every tag, and destructive ones last', () => {
    const all = namesOf(chooseTools(acme, new Map(), acme.length - 1));
    expect(all).to.deep.equal([
      'acme_list_bills',
      'acme_list_staff',
      'acme_add_bill',
      'acme_add_staff',
      'acme_list_bill_lines',
    ]);
  });

  it('takes used tools before all others, also destructive ones', () => {
    const uses = new Map([
      ['acme_drop_bill', 40],
      ['acme_list_bill_lines', 3],
    ]);
    expect(namesOf(chooseTools(acme, uses, 3))).to.deep.equal([
      'acme_drop_bill',
      'acme_list_bill_lines',
      'acme_list_bills',
    ]);
  });

  it('does not change with every call', () => {
    const first = (staff: number) => {
      const uses = new Map([
        ['acme_list_bills', 4],
        ['acme_add_staff', staff],
      ]);
      return namesOf(chooseTools(acme, uses, 1));
    };
    expect([3, 4, 5, 6].flatMap(first)).to.deep.equal(Array(4).fill('acme_list_bills'));
    expect(first(7)).to.deep.equal(['acme_add_staff']);
  });

  it('takes the main tools of the main topics of a large connector', () => {
    const catalogue = createCatalogue(readCatalogueIndex(readFileSync(join(ROOT, 'generated/catalogue.json'), 'utf8')));
    const tools = catalogue.toolNames('github').flatMap((name) => catalogue.peek(name) ?? []);
    const chosen = chooseTools(cardsOf(tools), new Map(), 40);
    expect(chosen).to.have.length(40);
    const main = ['get_issue', 'list_issues', 'create_issue', 'get_repository', 'create_pull_request', 'search_code'];
    expect(namesOf(chosen)).to.include.members(main.map((name) => `github_${name}`));
    expect(new Set(chosen.map(({ tags }) => tags[0])).size).to.be.at.least(20);
    expect(chosen.filter(({ hints }) => hints.destructive)).to.deep.equal([]);
  });
});
