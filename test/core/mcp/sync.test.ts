import { expect } from 'chai';
import { STORAGE } from '../../../core/budgets.ts';
import { deleteTools, deleteToolsOf } from '../../../core/connections/delete-tools.ts';
import { storeUpstreamTools } from '../../../core/mcp/upstream/sync.ts';
import type { EnvironmentId, NewEnvironmentTool, Transaction } from '../../../db/store.ts';

const ENVIRONMENT = 'env_1' as EnvironmentId;
const COUNT = 1_000;

/** A transaction that records how many rows are written between two turns of the event loop. */
function pacedTransaction(before: readonly object[] = []) {
  const turns = [0];
  const count = (rows: number) => {
    turns[turns.length - 1] = (turns.at(-1) ?? 0) + rows;
    return rows;
  };
  const tx = {
    yieldToEventLoop: async () => void turns.push(0),
    environmentTools: {
      count: async () => before.length,
      listByConnector: async () => before,
      names: async () => before.map((row) => (row as { name: string }).name),
      upsert: async (_environment: EnvironmentId, rows: readonly NewEnvironmentTool[]) => count(rows.length),
      delete: async (_environment: EnvironmentId, names: readonly string[]) => count(names.length),
    },
  } as unknown as Transaction;
  return { tx, turns };
}

const candidates = (count: number) => ({
  tools: Array.from({ length: count }, (_, at) => ({
    sourceId: `tool-${at}`,
    tool: { name: '' } as never,
    changes: [],
  })),
  leftOut: [],
  listed: count,
});

const store = (tx: Transaction, count: number) =>
  storeUpstreamTools(
    tx,
    { catalogue: { tool: () => undefined } as never, now: () => 0 },
    ENVIRONMENT,
    'acme',
    candidates(count),
    false,
  );

describe('H8: storing the tools of an MCP server', () => {
  it('H8: lets other work of the event loop run while it writes 1,000 tools', async () => {
    const { tx, turns } = pacedTransaction();
    const report = await store(tx, COUNT);
    expect(report.tools).to.equal(COUNT);
    expect(turns.reduce((sum, rows) => sum + rows)).to.equal(COUNT);
    expect(Math.max(...turns)).to.be.at.most(STORAGE.rowsPerTurn);
  });

  it('H8: lets other work run while it removes 1,000 tools, in smaller pieces', async () => {
    const rows = Array.from({ length: COUNT }, (_, at) => ({
      name: `acme_${at}`,
      source: 'mcp',
      sourceId: `old-${at}`,
    }));
    const { tx, turns } = pacedTransaction(rows);
    const report = await store(tx, 0);
    expect(report.removed).to.have.length(COUNT);
    expect(Math.max(...turns)).to.equal(STORAGE.deletionsPerTurn);
  });

  it('H8: deletes the tools of a provider in pieces of the same size', async () => {
    const { tx, turns } = pacedTransaction();
    await deleteTools(tx, ENVIRONMENT, Array.from({ length: 120 }, String));
    expect(turns).to.deep.equal([50, 50, 20]);
  });

  it('S3: deletes the tools of a deleted provider in pieces, without loading a list of them', async () => {
    const steps: string[] = [];
    let left = 120;
    const deleteOfConnector = async (_environmentId: unknown, _connector: string, limit: number) => {
      const deleted = Math.min(limit, left);
      left -= deleted;
      steps.push(String(deleted));
      return deleted;
    };
    const yieldToEventLoop = async () => void steps.push('turn');
    await deleteToolsOf({ environmentTools: { deleteOfConnector }, yieldToEventLoop } as never, ENVIRONMENT, 'acme');
    expect(steps.join(' ')).to.equal('50 turn 50 turn 20');
  });
});
