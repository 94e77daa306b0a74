import { expect } from 'chai';
import { createEnvironmentToolRepository } from '../../../db/environment-tools.ts';
import type { Values } from '../../../db/plan.ts';
import { sqliteDialect } from '../../../db/sqlite/dialect.ts';
import { createStatements } from '../../../db/statements.ts';
import { environmentId } from '../../../db/store.ts';
import { tool } from '../support.ts';

/** Repositories of an environment's tools on a connection that records its statements. The revision is 4. */
function setUp(changes: number) {
  const made: { table: string; revision: unknown }[] = [];
  const record = (text: string, values?: Values) => {
    const table = /^(?:insert into|update|delete from) "(\w+)"/.exec(text)?.[1] ?? text;
    made.push({ table, revision: values?.['revision'] });
  };
  const statements = createStatements({
    dialect: sqliteDialect,
    prepare: ({ text }) => ({
      run: async (values) => {
        record(text, values);
        return { changes };
      },
      get: async (values) => {
        record(text, values);
        return { revision: 4 };
      },
      all: async () => [],
    }),
  });
  return { tools: createEnvironmentToolRepository(statements), made };
}

const ENVIRONMENT = environmentId('env_01j0000000000000000000000a');
const LOCK = { table: 'environment_tool_revisions', revision: undefined };
const MOVE = { table: 'environment_tool_revisions', revision: 5 };

describe('changes of the tools of an environment', () => {
  it('lock the revision before the first row and increase it after the last one', async () => {
    const { tools, made } = setUp(1);
    await tools.upsert(ENVIRONMENT, [tool('a'), tool('b')]);
    const row = { table: 'environment_tools', revision: 5 };
    expect(made).to.deep.equal([LOCK, row, row, MOVE]);
  });

  it('do the same when tools are removed', async () => {
    const { tools, made } = setUp(1);
    await tools.delete(ENVIRONMENT, ['a']);
    expect(made).to.deep.equal([LOCK, { table: 'environment_tools', revision: undefined }, MOVE]);
  });

  it('leave the revision where nothing has changed', async () => {
    const { tools, made } = setUp(0);
    await tools.upsert(ENVIRONMENT, [tool('a')]);
    expect(made).to.deep.equal([LOCK, { table: 'environment_tools', revision: 5 }]);
  });
});
