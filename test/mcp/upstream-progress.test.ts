import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { until } from '../support/manual-timer.ts';
import { connectMcp, REVISIONS, sessionToken } from '../support/mcp.ts';
import { createMcpProvider, type McpProvider } from '../support/mcp-provider.ts';
import { startSdkServer, type Waits } from '../support/sdk-mcp-server.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const OWNER = { user_id: 'user-1', identifier: 'ada' };
const STEPS = [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` }));

for (const theirs of REVISIONS) {
  describe(`a long call of a tool of a third-party MCP server in the revision ${theirs}`, () => {
    let upstream: Awaited<ReturnType<typeof startSdkServer>>;
    let server: TestServer;
    let provider: McpProvider;
    let waits: Waits;

    before(async () => {
      waits = { begun: 0, cancelled: 0 };
      upstream = await startSdkServer(theirs, waits);
      const env = { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride('https://long.example') };
      server = await startTestServer({ env });
      provider = await createMcpProvider(server, 'https://long.example/mcp', { name: 'Long' });
      expect((await provider.sync()).body.added).to.have.members(['long_count', 'long_wait']);
    });
    beforeEach(() => Object.assign(waits, { begun: 0, cancelled: 0 }));
    after(async () => {
      await server.stop();
      await upstream.stop();
    });

    const open = async (revision: (typeof REVISIONS)[number]) => {
      const token = await sessionToken(server, provider.connectionId, OWNER);
      return connectMcp(server, provider.connectionId, token, { revision });
    };

    async function steps(client: Client, name: string): Promise<object[]> {
      const received: object[] = [];
      const onprogress = (progress: object) => void received.push(progress);
      const result = await client.callTool({ name, arguments: {} }, { onprogress });
      expect(JSON.stringify(result)).to.include('counted');
      return received;
    }

    async function cancel(client: Client, name: string): Promise<void> {
      const stop = new AbortController();
      const call = client.callTool({ name, arguments: {} }, { signal: stop.signal });
      await until(() => waits.begun === 1);
      expect(waits.cancelled).to.equal(0);
      stop.abort();
      expect(await call.catch((error) => error)).to.be.instanceOf(Error);
      await until(() => waits.cancelled === 1);
    }

    it('reports progress to a client that calls the third-party server itself, and can be cancelled', async () => {
      const versionNegotiation = theirs === '2026-07-28' ? { versionNegotiation: { mode: 'auto' as const } } : {};
      const client = new Client({ name: 'direct', version: '1' }, versionNegotiation);
      await client.connect(new StreamableHTTPClientTransport(new URL(`${upstream.origin}/mcp`)));
      expect(await steps(client, 'count')).to.deep.equal(STEPS);
      await cancel(client, 'wait');
      await client.close();
    });

    for (const ours of REVISIONS) {
      it(`passes progress on to a client of the revision ${ours}, in order and with its words`, async () => {
        const client = await open(ours);
        expect(await steps(client, 'long_count')).to.deep.equal(STEPS);
        await client.close();
      });

      it(`is cancelled there when a client of the revision ${ours} cancels it`, async () => {
        const client = await open(ours);
        await cancel(client, 'long_wait');
        await client.close();
      });
    }

    it('works without progress for callers that do not ask for it', async () => {
      const { status, text } = await provider.run('long_count');
      expect(status, text).to.equal(200);
      expect(text).to.include('counted');
    });
  });
}
