import { expect } from 'chai';
import { createToolFreshness, type FreshnessDeps } from '../../../core/mcp/upstream/freshness.ts';

describe('M4: reading outdated tool lists of MCP servers', () => {
  /** Creates two environments with providers. @param slowMs how long reading each list of tools takes */
  function world(slowMs: number) {
    let clock = 0;
    const read: string[] = [];
    const providers = (names: string[]) => names.map((identifier) => ({ identifier, isMcp: identifier !== 'rest' }));
    const of: Record<string, string[]> = { env_a: ['a1', 'rest', 'a2', 'a3'], env_b: ['b1'] };
    const store = {
      environments: { list: async () => [{ id: 'env_a' }, { id: 'env_b' }] },
      customProviders: { list: async (id: string) => providers(of[id] ?? []) },
      accounts: {
        list: async (_id: string, { provider }: { provider: string }) => {
          read.push(provider);
          clock += slowMs;
          return { rows: [] };
        },
      },
    };
    const tools = { store: { read: store }, now: () => clock, log: { warn() {} } };
    return { read, freshness: createToolFreshness(tools as unknown as FreshnessDeps) };
  }

  it('alternates between environments', async () => {
    const { read, freshness } = world(0);
    await freshness.run();
    expect(read).to.deep.equal(['a1', 'b1', 'a2', 'a3']);
  });

  it('ends after some minutes, so that the next run can begin with others', async () => {
    const { read, freshness } = world(150_000);
    await freshness.run();
    expect(read).to.deep.equal(['a1', 'b1']);
  });
});
