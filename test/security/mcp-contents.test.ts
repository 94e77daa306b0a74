import { expect } from 'chai';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { MCP_CONFIGS_PATH } from '../support/mcp-configs.ts';
import type { Answer } from '../support/raw-mcp-server.ts';
import { type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';

const OWNER = { user_id: 'user-1', identifier: 'ada' };
const HIDDEN = '\u{e0041}\u200b';
const MIB = 1024 * 1024;

describe('resources and prompts of hostile MCP servers (P6)', () => {
  let world: RawMcpWorld;
  let id: string;
  let token: string;

  before(async () => {
    world = await startRawMcpWorld();
    const mappings = [{ connection_id: world.provider.connectionId, resources: true, prompts: true }];
    const { body } = await world.server.call('POST', MCP_CONFIGS_PATH, { body: { name: 'Hostile', mappings } });
    id = body.config.id;
    token = await sessionToken(world.server, id, OWNER);
  });
  beforeEach(() => world.reset());
  after(() => world.stop());

  const respond =
    (result: unknown): Answer =>
    ({ message }, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id: message?.id, result }));
    };
  const uri = (text: string) => `valetkey://mcp/${world.provider.connectionId}/${text}`;
  const ask = async (method: string, params: Record<string, unknown> = {}) => {
    const name = params['uri'] ?? params['name'];
    const headers: Record<string, string> = typeof name === 'string' ? { 'mcp-name': name } : {};
    return (await rawMcp(world.server, id, { token, method, params, headers })).body;
  };
  const read = () => ask('resources/read', { uri: uri('item://1') });

  it('show no hidden characters, and long texts only in part', async () => {
    const item = { uri: 'item://1', name: `a${HIDDEN}b`, title: HIDDEN, description: 'x'.repeat(100_000) };
    world.on('resources/list', respond({ resources: [item] }));
    const [shown] = (await ask('resources/list')).result.resources;
    expect(shown).to.include({ uri: uri('item://1'), name: 'ab' });
    expect(shown).to.not.have.property('title');
    expect(shown.description).to.have.length(2_000);
  });

  it('are left out of lists where they do not follow the protocol', async () => {
    const wrong = [
      null,
      1,
      {},
      { uri: 1 },
      { uri: '' },
      { uri: `item://${HIDDEN}` },
      { uri: `item://${'x'.repeat(3000)}` },
    ];
    world.on('resources/list', respond({ resources: [...wrong, { uri: 'item://1' }] }));
    const { resources } = (await ask('resources/list')).result;
    expect(resources).to.deep.equal([{ uri: uri('item://1'), name: 'item://1' }]);
    const prompts = [{ name: 'a', arguments: [{}] }, { name: 'b', arguments: 1 }, { name: HIDDEN }, { name: 'good' }];
    world.on('prompts/list', respond({ prompts }));
    expect((await ask('prompts/list')).result.prompts).to.deep.equal([{ name: 'their-tools.good' }]);
  });

  it('cannot name resources of other connections', async () => {
    const contents = [{ uri: 'valetkey://mcp/conn_other/item://1', text: 'x' }];
    world.on('resources/read', respond({ contents }));
    expect((await read()).result.contents).to.deep.equal([
      { uri: uri('valetkey://mcp/conn_other/item://1'), text: 'x' },
    ]);
  });

  for (const [what, result] of Object.entries({
    'no contents': {},
    'a content of no kind': { contents: [{ uri: 'item://1' }] },
    'a text that is a number': { contents: [{ uri: 'item://1', text: 1 }] },
    'a list that is an object': { contents: { length: 1 } },
    'more than 2 MiB': { contents: [{ uri: 'item://1', text: 'x'.repeat(2 * MIB) }] },
    '100,001 values': { contents: [{ uri: 'item://1', text: '', extra: Array(100_001).fill(0) }] },
    'a question to the user': { resultType: 'input_required', inputRequests: {}, requestState: 'x' },
  })) {
    it(`are an error of the protocol with ${what}, and the server keeps running`, async () => {
      world.on('resources/read', respond(result));
      const { error } = await read();
      expect(error.code, JSON.stringify(error)).to.equal(-32000);
      expect(error.data.error).to.include({ code: 'TOOL_FAILED' });
      world.on('resources/read', respond({ contents: [] }));
      expect((await read()).result.contents).to.deep.equal([]);
    });
  }

  it('end after 100 pages, and when a server repeats a cursor', async () => {
    let pages = 0;
    world.on('resources/list', (request, res) => {
      pages += 1;
      return respond({ resources: [], nextCursor: String(pages) })(request, res);
    });
    let cursor: string | undefined;
    do cursor = (await ask('resources/list', cursor === undefined ? {} : { cursor })).result.nextCursor;
    while (cursor !== undefined);
    expect(pages).to.equal(100);
    pages = 0;
    world.on('resources/list', (request, res) => {
      pages += 1;
      return respond({ resources: [], nextCursor: 'again' })(request, res);
    });
    expect((await ask('resources/list')).result).to.not.have.property('nextCursor');
    expect(pages).to.equal(2);
  });

  it('need the scope of calls, which a grant may lack', async () => {
    const { allowsMethod } = await import('../../core/mcp-login/scopes.ts');
    for (const method of ['resources/list', 'resources/read', 'prompts/get']) {
      expect([allowsMethod(['tools:read'], method), allowsMethod(['tools:read', 'tools:call'], method)]).to.deep.equal([
        false,
        true,
      ]);
    }
  });
});
