import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { ACCOUNT_KEY, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { slowDisk } from '../support/slow-disk.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const TURNS = 50;

describe('a tool call over MCP whose start is committed and not yet durable (E7)', () => {
  let server: TestServer;
  let upstream: Upstream;
  let disk = Promise.withResolvers<void>();

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, { id: 7 }));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) },
      overrides: { store: wrap((store) => slowDisk(store, () => disk.promise)) },
    });
  });
  beforeEach(() => {
    upstream.requests.length = 0;
    disk = Promise.withResolvers<void>();
    disk.resolve();
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  /** Creates an MCP server with one tool, and returns a function that begins a call and says whether it has ended. */
  async function caller(
    identity: string,
    types: object[] | undefined,
    account: (connector: string) => Promise<unknown>,
  ) {
    const fields = { proxy_enabled: true, proxy_url: KEYED_ORIGIN, ...(types && { auth_patterns: types }) };
    const { identifier } = await createProvider(server, fields);
    const connection = await createConnection(server, {
      connector: identifier,
      ...(types && { type: 'NO_AUTH' }),
    } as never);
    const name = `${identifier.replaceAll('-', '_')}_get_thing`;
    await storeTools(server, [ownTool(identifier, name)]);
    await account(connection.key_id);
    const token = await sessionToken(server, connection.id, { identifier: identity });
    return () => {
      const call = {
        ended: false,
        answer: rawMcp(server, connection.id, {
          token,
          method: 'tools/call',
          params: { name, arguments: { number: 7 } },
        }),
      };
      void call.answer.then(() => {
        call.ended = true;
      });
      return call;
    };
  }

  const turns = async () => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is sent, and its response waits until the start is durable', async () => {
    const begin = await caller('ada@acme.test', undefined, (connector) =>
      createAccount(server, {
        connector,
        identifier: 'ada@acme.test',
        userId: 'user-1',
        connectedAccount: { authorization_details: { static_auth: { details: { api_key: ACCOUNT_KEY } } } },
      } as never),
    );
    disk = Promise.withResolvers<void>();
    const call = begin();
    while (upstream.requests.length === 0) await turns();
    await turns();
    expect(call.ended).to.equal(false);
    disk.resolve();
    expect((await call.answer).body.result.structuredContent.data).to.deep.equal({ id: 7 });
  });

  it('is sent only when the account that it creates is durable', async () => {
    const begin = await caller('eve@acme.test', [{ type: 'NO_AUTH' }], async () => {});
    disk = Promise.withResolvers<void>();
    const call = begin();
    const accounts = async () => (await server.call('GET', '/api/v1/connected_accounts?identifier=eve@acme.test')).body;
    while ((await accounts()).connected_accounts.length === 0) await turns();
    await turns();
    expect([call.ended, upstream.requests.length]).to.deep.equal([false, 0]);
    disk.resolve();
    expect((await call.answer).body.result.structuredContent.data).to.deep.equal({ id: 7 });
  });
});
