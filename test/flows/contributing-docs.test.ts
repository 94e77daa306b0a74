import { expect } from 'chai';
import { parse } from 'yaml';
import { migrationOf } from '../../db/migrations.ts';
import { loadMigrations, migrate } from '../../db/sqlite/migrate.ts';
import { openConnections } from '../../db/sqlite/open.ts';
import { LIMITS } from '../../scripts/bench/stalls/scenario.ts';
import { SCENARIOS } from '../../scripts/bench/stalls/scenarios.ts';
import { readCatalogueFiles } from '../../scripts/catalogue-files.ts';
import { createCatalogueRules } from '../../scripts/catalogue-rules.ts';
import { tempDir } from '../support/temp-dir.ts';
import { readPage } from './markdown.ts';

/** Returns the code blocks of one section of CONTRIBUTING.md, without the indentation of their list item. */
function blocksOfSection(heading: string, language: string): string[] {
  const section =
    readPage('CONTRIBUTING.md')
      .split(/^## /m)
      .find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(new RegExp(`^   \`\`\`${language}\\n(.*?)^   \`\`\`$`, 'gms'))];
  return blocks.map(([, text]) => (text as string).replace(/^ {3}/gm, ''));
}

describe('CONTRIBUTING.md', () => {
  it('shows a connector and a tool that pass every rule of the catalogue', async () => {
    const [connector] = blocksOfSection('Add a connector', 'yaml').map((text) => parse(text));
    const [tool] = blocksOfSection('Add a tool', 'yaml').map((text) => parse(text));
    const { identifier } = connector;
    const files = {
      connectors: [{ file: `${identifier}.yaml`, name: identifier, data: connector }],
      tools: [{ file: `${tool.name}.yaml`, name: tool.name, connector: identifier, data: tool }],
    };
    const rules = createCatalogueRules((await readCatalogueFiles()).schemas);
    expect(rules.check(files)).to.deep.equal([]);
    tool.request.path = '/notes';
    expect(rules.check(files), 'the control').not.to.deep.equal([]);
  });

  it('shows a migration that can be applied to a current database', () => {
    const [sql] = blocksOfSection('Add a migration', 'sql');
    const folder = tempDir();
    const { writer, reader } = openConnections(`${folder.path}/valetkey.db`);
    const files = [...loadMigrations(), migrationOf('9999_account_notes.sql', sql ?? '')];
    expect(migrate(writer, () => 0, files).at(-1)).to.equal('9999_account_notes.sql');
    const columns = writer.prepare("select name from pragma_table_info('accounts')").pluck().all();
    expect(columns).to.include('note');
    reader.close();
    writer.close();
    folder.remove();
  });

  it('states the number of inputs of `make bench-stalls`, and their limits', () => {
    const row = readPage('CONTRIBUTING.md')
      .split('\n')
      .find((line) => line.startsWith('| `make bench-stalls`'));
    expect(row).to.include(`${SCENARIOS.length} inputs`);
    expect(row).to.include(`(limit: ${LIMITS.cpuMs} ms)`).and.to.include(`(limit: ${LIMITS.rssMiB} MiB)`);
    expect(new Set(SCENARIOS.map(({ name }) => name)).size, 'their names differ').to.equal(SCENARIOS.length);
  });
});
