import { expect } from 'chai';
import { offersAllPages } from '../../core/mcp/all-pages.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { createAccount } from '../support/accounts.ts';
import { connectMcp, REVISIONS, sessionToken } from '../support/mcp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const NAME = 'github_list_issues';
const INPUT = { owner: 'octocat', repo: 'hello' };

describe('all pages over MCP', () => {
  let github: Upstream;
  let server: TestServer;
  let connectionId: string;
  let token: string;

  before(async () => {
    github = await startUpstream(({ target }, res) => {
      const page = Number(new URL(target, 'http://x').searchParams.get('page') ?? 1);
      const next = { link: `<https://api.github.com/elsewhere?page=${page + 1}>; rel="next"` };
      json(res, 200, [{ number: page }], page < 3 ? next : {});
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
    const account = await createAccount(server, { userId: 'user-1', identifier: 'ada@acme.test' });
    connectionId = account['connection_id'] as string;
    token = await sessionToken(server, connectionId);
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  for (const revision of REVISIONS) {
    it(`are read by one call, and only if the client asks for them (${revision})`, async () => {
      const client = await connectMcp(server, connectionId, token, { revision });
      const { tools } = await client.listTools();
      const listed = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {};
      expect(listed(NAME)).to.have.property('all_pages');
      expect(listed('github_get_authenticated_user')).to.not.have.property('all_pages');
      const call = async (input: object) => {
        const result = await client.callTool({ name: NAME, arguments: { ...INPUT, ...input } });
        // The upstream's items lack members that the output schema requires, so the result is only in the text.
        return JSON.parse((result.content[0] as { text: string }).text);
      };
      expect((await call({})).data).to.deep.equal([{ number: 1 }]);
      expect((await call({ all_pages: false })).next_cursor).to.be.a('string');
      const whole = await call({ all_pages: true });
      expect(whole.data).to.deep.equal([1, 2, 3].map((number) => ({ number })));
      expect(whole.pages).to.deep.equal({
        count: 3,
        complete: true,
        statement: '3 pages were read; there are no more pages.',
      });
      expect(whole).to.not.have.property('next_cursor');
      await client.close();
    });
  }

  it('are rejected with a value that is not true or false, and for tools without pages', async () => {
    const client = await connectMcp(server, connectionId, token);
    const errorOf = async (name: string, input: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: input });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      return (result.structuredContent as any).error;
    };
    const requests = github.requests.length;
    for (const all_pages of ['true', 1, null]) {
      const error = await errorOf(NAME, { ...INPUT, all_pages });
      expect(error.code).to.equal('INVALID_TOOL_INPUT');
      expect(error.errors).to.deep.equal([{ field: 'all_pages', message: 'must be true or false' }]);
    }
    expect(await errorOf('github_get_authenticated_user', { all_pages: true })).to.include({
      code: 'INVALID_TOOL_INPUT',
    });
    expect(github.requests.length).to.equal(requests);
    await client.close();
  });

  it('are not offered by a tool that has an input with this name', () => {
    const input_schema = { type: 'object', properties: { all_pages: { type: 'integer' } } };
    expect(offersAllPages({ pagination: {}, input_schema } as unknown as Tool)).to.equal(false);
  });
});
