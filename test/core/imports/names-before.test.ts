import { expect } from 'chai';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { namesBefore } from '../../../core/imports/names-before.ts';
import type { EnvironmentId, ReadRepositories } from '../../../db/store.ts';
import { readCatalogueJson } from '../../support/catalogue-json.ts';

describe('L7: the names that an import must avoid', () => {
  it('are read without parsing the tools of the catalogue', async () => {
    const { connectors, tools } = readCatalogueJson();
    const broken = new Map(
      Object.entries(tools).map(([name, tool]) => [
        name,
        { connector: tool.connector, generic: false, text: () => JSON.stringify(tool).slice(0, -1) },
      ]),
    );
    const catalogue = createCatalogue({ connectors, tools: broken });
    expect(() => catalogue.tool('github_create_issue'), 'the control').to.throw(SyntaxError);
    const environmentTools = { entriesOf: async () => [], names: async () => ['mine_get_a', 'other_get_b'] };
    const read = { environmentTools } as unknown as ReadRepositories;
    const { taken } = await namesBefore(read, catalogue, 'env_1' as EnvironmentId, 'mine');
    expect(taken).to.deep.equal(['mine_get_a']);
  });
});
