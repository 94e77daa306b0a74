import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import type { McpProvider } from '../support/mcp-provider.ts';
import { event, events, json, listed, type RawRequest, result } from '../support/raw-mcp-server.ts';
import { type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';
import type { TestServer } from '../support/server.ts';

const TOKEN = 'qZ7xW4vK9pL2mN8bT5rY3cG6hJ1dF0sAuEoIwX7zQ4k';
/** Lengths of a text before the token, so that the token is before, across or after the places where texts are cut. */
const PADDINGS = [0, 200, 255, 280, 455, 470, 480, 490, 1955, 1980];

/** Returns all parts of a text that are eight consecutive characters of the token. */
function leaksIn(text: string): string[] {
  return Array.from({ length: TOKEN.length - 8 }, (_, at) => TOKEN.slice(at, at + 8)).filter((part) =>
    text.includes(part),
  );
}

describe('H6: an MCP server that repeats the credential it was sent', () => {
  let server: TestServer;
  let provider: McpProvider;

  let world: RawMcpWorld;

  before(async () => {
    world = await startRawMcpWorld({ token: TOKEN, env: { LOG_LEVEL: 'trace' } });
    ({ server, provider } = world);
  });
  beforeEach(() => world.reset());
  after(() => world.stop());

  const reactivate = () =>
    server.call('PUT', '/api/v1/connected_accounts', {
      body: {
        id: provider.accountId,
        connected_account: { authorization_details: { static_auth: { details: { token: TOKEN } } } },
      },
    });

  it('receives the credential (control)', async () => {
    let seen: string | undefined;
    world.on('tools/call', ({ headers, message }, res) => {
      seen = headers.authorization;
      result(res, message as never, { content: [] });
    });
    expect((await world.look()).status).to.equal(200);
    expect(seen).to.equal(`Bearer ${TOKEN}`);
    expect(leaksIn(`x${TOKEN.slice(3, 20)}x`)).to.not.deep.equal([]);
  });

  for (const [what, answer] of Object.entries<(words: string, request: RawRequest, res: ServerResponse) => void>({
    'in an error of JSON-RPC': (message, { message: asked }, res) =>
      json(res, 200, { jsonrpc: '2.0', id: asked?.id, error: { code: -32000, message, data: { message } } }),
    'in the texts of a result': (text, { message }, res) =>
      result(res, message as never, {
        content: [
          { type: 'text', text },
          { type: 'resource_link', uri: `x:${text}`, name: text },
        ],
      }),
    'in the data of a result': (text, { message }, res) =>
      result(res, message as never, { content: [], structuredContent: { [text]: [text, { deep: text }] } }),
    'in a tool that failed': (text, { message }, res) =>
      result(res, message as never, { isError: true, content: [{ type: 'text', text }], structuredContent: { text } }),
    'in an HTTP error with JSON': (message, _request, res) => json(res, 500, { error: { code: 1, message } }),
    'in an HTTP error with text': (text, _request, res) =>
      res.writeHead(400, { 'content-type': 'text/plain' }).end(text),
    'in the headers of a refusal': (text, _request, res) =>
      res.writeHead(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${text}"` }).end(),
    'in an event': (text, { message }, res) => {
      events(res);
      event(res, { method: 'notifications/message', params: { level: 'info', data: text } });
      event(res, { id: message?.id, error: { code: -32000, message: text } });
    },
  })) {
    it(`gets a masked credential ${what}`, async () => {
      for (const padding of PADDINGS) {
        world.on('tools/call', (request, res) =>
          answer(`${'.'.repeat(padding)} ${request.headers.authorization}`, request, res),
        );
        const { text, status } = await world.look();
        expect(leaksIn(text), `${padding}: ${text}`).to.deep.equal([]);
        expect([200, 502], text).to.include(status);
      }
    });
  }

  it('gets a masked credential in forwarded progress', async () => {
    world.on('tools/call', ({ headers, message }, res) => {
      events(res);
      const { progressToken } = message?.params._meta ?? {};
      event(res, {
        method: 'notifications/progress',
        params: { progressToken, progress: 1, message: `got ${headers.authorization}` },
      });
      event(res, { id: message?.id, result: { content: [] } });
    });
    const token = await sessionToken(server, provider.connectionId, { user_id: 'user-1', identifier: 'ada' });
    const client = await connectMcp(server, provider.connectionId, token);
    const told: string[] = [];
    await client.callTool(
      { name: 'their_tools_look', arguments: {} },
      { onprogress: ({ message }) => void told.push(message ?? '') },
    );
    await client.close();
    expect(told).to.deep.equal(['got Bearer [secret]']);
  });

  it('gets a masked credential when listing tools fails', async () => {
    for (const padding of PADDINGS) {
      for (const status of [200, 400, 500]) {
        world.on('tools/list', ({ headers, message }, res) => {
          const words = `${'.'.repeat(padding)} ${headers.authorization}`;
          json(res, status, { jsonrpc: '2.0', id: message?.id, error: { code: -32000, message: words } });
        });
        const { text, body } = await provider.sync();
        expect(body.code).to.equal('TOOLS_NOT_LISTED');
        expect(leaksIn(text)).to.deep.equal([]);
      }
    }
  });

  it('gets a masked credential in the scopes that a rejection of the list names, in any quotes', async () => {
    for (const quoted of [(text: string) => text, (text: string) => text.replace(/./g, '\\$&')]) {
      world.on('tools/list', ({ headers }, res) => {
        const [, token = ''] = String(headers.authorization).split(' ');
        const challenge = `Bearer error="insufficient_scope", scope="read ${quoted(token)}"`;
        res.writeHead(403, { 'www-authenticate': challenge }).end();
      });
      const { text, body } = await provider.sync();
      expect(body.code).to.equal('TOOLS_NOT_LISTED');
      expect(text).to.include('read');
      expect(leaksIn(text)).to.deep.equal([]);
    }
  });

  it('gets a masked credential in every text of a list, before it is stored', async () => {
    world.on('tools/list', ({ headers, message }, res) => {
      const echo = `${'.'.repeat(480)} ${headers.authorization}`;
      const said = {
        title: echo,
        description: `${'.'.repeat(1980)} ${headers.authorization}`,
        inputSchema: {
          type: 'object',
          description: echo,
          properties: {
            a: { type: 'string', title: echo, enum: [echo], default: echo, examples: [echo] },
            b: { const: echo, pattern: `^${TOKEN}$`, description: Buffer.from(TOKEN).toString('base64') },
            [TOKEN]: { type: 'string' },
          },
          required: [TOKEN],
        },
        outputSchema: { type: 'object', properties: { a: { description: echo, enum: [TOKEN] } } },
        annotations: { title: echo },
        _meta: { echo },
      };
      const tools = [
        listed('told', said),
        listed(`with-${TOKEN}`),
        listed(`${'x'.repeat(100)}${TOKEN}`),
        { description: echo },
      ];
      result(res, message as never, { tools, nextCursor: undefined });
    });
    const { body, text } = await provider.sync({ accept_changes: true });
    expect(body.added, text).to.include('their_tools_told');
    expect(leaksIn(text)).to.deep.equal([]);
    const lists = await Promise.all([
      server.call('GET', `/api/v1/tools?connector=${provider.identifier}&detail=full`),
      server.call('GET', `/api/v1/tools?connector=${provider.identifier}&format=openai`),
    ]);
    for (const list of lists) expect(leaksIn(list.text)).to.deep.equal([]);
    expect(leaksIn(JSON.stringify(await auditOf(server, provider.identifier)))).to.deep.equal([]);
  });

  for (const [what, hidden] of Object.entries({
    'zero-width characters': '\u200b',
    'soft hyphens': '\u00ad',
    'variation selectors': '\ufe0f',
    controls: '\u0001',
  })) {
    it(`gets a masked credential in a list that hides it with ${what}, which are removed`, async () => {
      const echo = TOKEN.split('').join(hidden);
      const inputSchema = {
        type: 'object',
        description: echo,
        properties: { a: { type: 'string', title: echo, description: echo, enum: [echo] }, [echo]: { type: 'string' } },
      };
      const said = { title: echo, description: `See ${echo}`, inputSchema, annotations: { title: echo } };
      world.on('tools/list', ({ message }, res) =>
        result(res, message as never, { tools: [listed('told', said), listed(echo), listed(`y${echo}`)] }),
      );
      const { text } = await provider.sync({ accept_changes: true });
      expect(text).to.include('their_tools_told');
      expect(leaksIn(text)).to.deep.equal([]);
      const list = await server.call('GET', `/api/v1/tools?connector=${provider.identifier}&detail=full`);
      expect(list.text).to.include('their_tools_told');
      expect(leaksIn(list.text)).to.deep.equal([]);
    });
  }

  it('gets a masked credential when it rejects the credential, also in the status reason of the account', async () => {
    world.on('tools/call', ({ headers }, res) =>
      res
        .writeHead(401, {
          'www-authenticate': `Bearer error="invalid_token", error_description="${headers.authorization}"`,
        })
        .end(`refused ${headers.authorization}`),
    );
    const { text } = await world.look();
    expect(leaksIn(text)).to.deep.equal([]);
    expect(leaksIn(JSON.stringify(await provider.account()))).to.deep.equal([]);
    await reactivate();
  });

  it('leaves no trace of the credential in the log or the database', () => {
    expect(leaksIn(server.logs.join('\n'))).to.deep.equal([]);
    expect(leaksIn(JSON.stringify(dumpDatabase(server)))).to.deep.equal([]);
  });
});
