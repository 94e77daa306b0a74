import { expect } from 'chai';
import { connectionNames } from '../../core/mcp/offered-tools.ts';
import type { ConnectionRow, ReadRepositories } from '../../db/store.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

describe('H7: an MCP server that offers many connections of one large provider', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('reads the tool names of the provider once, and no definition', async () => {
    const { parts } = server;
    const { id: environmentId } = await firstEnvironment(server);
    const { identifier } = await createProvider(server, { proxy_enabled: true, proxy_url: 'https://api.example/' });
    const tools = ['acme_one', 'acme_two', 'acme_three'].map((name) => {
      const definition = { name, connector: identifier };
      return {
        name,
        connector: identifier,
        source: 'custom' as const,
        sourceId: null,
        definition,
        flagged: null,
        at: 1,
      };
    });
    await parts.store.write((tx) => tx.environmentTools.upsert(environmentId, tools));
    const rows: ConnectionRow[] = [];
    for (const allowed of [null, ['acme_two', 'acme_three'], null]) {
      const { id } = await createConnection(server, { connector: identifier, allowed_tools: allowed });
      rows.push((await parts.store.read.connections.get(environmentId, id)) as ConnectionRow);
    }
    const calls: string[] = [];
    const { read } = parts.store;
    const counted = new Proxy(read.environmentTools, {
      get(target, name) {
        calls.push(String(name));
        return Reflect.get(target, name);
      },
    });
    const names = connectionNames({ ...read, environmentTools: counted } as ReadRepositories, parts);
    const offered = [];
    for (const row of rows)
      offered.push([...(await names.of(row)).keys()].filter((name) => name.startsWith('acme_')).sort());
    const all = ['acme_one', 'acme_three', 'acme_two'];
    expect(offered).to.deep.equal([all, ['acme_three', 'acme_two'], all]);
    // The last call reads the names of the generic tools.
    expect(calls).to.deep.equal(['namesOf', 'flaggedOf', 'namesOf']);
  });
});
