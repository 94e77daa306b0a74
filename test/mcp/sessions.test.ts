import { expect } from 'chai';
import { type TestClock, testClock } from '../support/clock.ts';
import { allowVerifyUrls, VERIFY_URL } from '../support/links.ts';
import { type McpUserOptions, sessionToken } from '../support/mcp.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { IS_PAIR, startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACCEPT = { accept: 'application/json, text/event-stream' };
const DAY_MS = 24 * 3600_000;

describe('sessions of the revision 2025-11-25', () => {
  const folder = tempDir();
  let clock: TestClock;
  let server: TestServer;
  let acme: string;

  const start = () => startTestServer({ dataDir: folder.path, overrides: { now: clock.now } });

  before(async () => {
    clock = testClock(Date.now());
    server = await start();
    await allowVerifyUrls(server, VERIFY_URL);
    const { identifier } = await createProvider(server, { proxy_enabled: true, proxy_url: 'https://api.acme.example' });
    acme = (await createConnection(server, { connector: identifier })).id;
    await storeTools(server, [ownTool(identifier, 'acme_get_thing')]);
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  const tokenOf = (user: McpUserOptions = {}) => sessionToken(server, acme, user);
  const post = (token: string | null, body: object, headers: Record<string, string> = {}) =>
    server.call('POST', `/mcp/${acme}`, { token, headers: { ...ACCEPT, ...headers }, body });
  const begin = async (token: string, capabilities: object = {}): Promise<string> => {
    const clientInfo = { name: 'raw', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    const answer = await post(token, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
    return String(answer.headers['mcp-session-id']);
  };
  const inSession = (token: string | null, session: string, method = 'ping', params: object = {}) =>
    post(token, { jsonrpc: '2.0', id: 2, method, params }, { 'mcp-session-id': session });
  const end = (token: string, session: string) =>
    server.call('DELETE', `/mcp/${acme}`, { token, headers: { 'mcp-session-id': session } });
  const unknown = (token: string) => inSession(token, 'x'.repeat(200));

  it('belong to the user who began them, and do not exist for another user (M4)', async () => {
    const ada = await tokenOf({ user_id: 'ada', identifier: 'ada@acme.test' });
    const eve = await tokenOf({ user_id: 'eve', identifier: 'eve@acme.test' });
    const session = await begin(ada);
    expect((await inSession(ada, session)).status).to.equal(200);
    const refused = await inSession(eve, session);
    expect(refused.status).to.equal(404);
    expect(refused.text).to.equal((await unknown(eve)).text);
    expect((await end(eve, session)).status).to.equal(404);
    expect((await inSession(ada, session)).status).to.equal(200);
  });

  it('require a token with every request, not only with the first', async () => {
    const session = await begin(await tokenOf());
    expect((await inSession(null, session)).status).to.equal(401);
  });

  it('have ids that reveal nothing and cannot be altered', async () => {
    const token = await tokenOf({ user_id: 'ada', identifier: 'ada@acme.test' });
    const session = await begin(token, { elicitation: { url: {} } });
    expect(session).to.match(/^[A-Za-z0-9_-]{50,500}$/);
    expect(Buffer.from(session, 'base64url').toString('latin1')).to.not.match(/ada|elicitation|2025-11-25/);
    for (let at = 0; at < session.length; at += 23) {
      const altered = `${session.slice(0, at)}${session[at] === 'A' ? 'B' : 'A'}${session.slice(at + 1)}`;
      expect((await inSession(token, altered)).status, String(at)).to.equal(404);
    }
  });

  it('have short ids for any client capabilities', async () => {
    const token = await tokenOf();
    const long = 'x'.repeat(50_000);
    const session = await begin(token, {
      [long]: {},
      elicitation: { url: { [long]: true } },
      experimental: { [long]: {} },
    });
    expect(session.length).to.be.below(500);
    expect((await inSession(token, session)).status).to.equal(200);
  });

  it('X9: survive a restart, with what the client declared in its handshake', async () => {
    const token = await tokenOf({ user_id: 'restart', identifier: 'restart', user_verify_url: VERIFY_URL });
    const opensLinks = await begin(token, { elicitation: { url: {} } });
    const shows = await begin(token);
    await server.stop();
    server = await start();
    const call = { name: 'acme_get_thing', arguments: { number: 7 } };
    // The account is missing: a client that can open links gets a link, any other client gets a message.
    const sent = messageOf(await inSession(token, opensLinks, 'tools/call', call));
    expect(sent.error).to.include({ code: -32042 });
    const told = messageOf(await inSession(token, shows, 'tools/call', call));
    expect(told.result.structuredContent.error.next_action.url).to.match(/^http:\/\/localhost\/connect\//);
  });

  it('M7: are not ended by the sessions of others, regardless of their number', async () => {
    const ada = await tokenOf({ user_id: 'ada', identifier: 'ada@acme.test' });
    const session = await begin(ada);
    const eve = await tokenOf({ user_id: 'eve', identifier: 'eve@acme.test' });
    for (let round = 0; round < 55; round++) await Promise.all(Array.from({ length: 20 }, () => begin(eve)));
    expect((await inSession(ada, session)).status).to.equal(200);
  });

  it('are ended by DELETE, each separately', async function () {
    // Only the server that ended a session knows that it has ended: see docs/postgresql.md.
    if (IS_PAIR) this.skip();
    const token = await tokenOf();
    const [first, second] = [await begin(token), await begin(token)];
    expect((await end(token, first)).status).to.equal(200);
    const refused = await inSession(token, first);
    expect(refused.status).to.equal(404);
    expect(refused.text).to.equal((await unknown(token)).text);
    expect((await end(token, first)).status).to.equal(404);
    expect((await inSession(token, second)).status).to.equal(200);
  });

  it('end after 30 days', async () => {
    const session = await begin(await tokenOf());
    clock.advance(30 * DAY_MS - 1000);
    expect((await inSession(await tokenOf(), session)).status).to.equal(200);
    clock.advance(1000);
    expect((await inSession(await tokenOf(), session)).status).to.equal(404);
  });

  describe('streams that wait for messages (GET)', () => {
    const open = async (token: string, session: string) => {
      const gone = new AbortController();
      const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream', 'mcp-session-id': session };
      const response = await fetch(`${server.origin}/mcp/${acme}`, { headers, signal: gone.signal });
      return { response, gone };
    };

    it('are opened once for a session', async () => {
      const token = await tokenOf();
      const session = await begin(token);
      const first = await open(token, session);
      expect(first.response.status).to.equal(200);
      expect(first.response.headers.get('content-type')).to.equal('text/event-stream');
      expect((await inSession(token, session)).status).to.equal(200);
      const second = await open(token, session);
      expect(second.response.status).to.equal(409);
      first.gone.abort();
    });

    it('end with the token that they were opened with', async () => {
      const token = await tokenOf({ user_id: 'short', identifier: 'short@acme.test', lifetime_seconds: 60 });
      const session = await begin(token);
      // The remaining lifetime of the token passes on the real clock.
      clock.advance(58_990);
      const { response } = await open(token, session);
      expect(response.status).to.equal(200);
      expect(response.headers.get('connection')).to.equal('close');
      expect(await response.text()).to.equal('');
    });

    it('M7: are limited for each user; beyond the limit a client gets a 405, as from a server without streams', async () => {
      const token = await tokenOf({ user_id: 'many', identifier: 'many@acme.test' });
      const opened = [];
      for (let count = 0; count < 17; count++) opened.push(await open(token, await begin(token)));
      const statuses = opened.map(({ response }) => response.status);
      expect(statuses).to.deep.equal([...Array(16).fill(200), 405]);
      const other = await tokenOf({ user_id: 'other', identifier: 'other@acme.test' });
      const free = await open(other, await begin(other));
      expect(free.response.status).to.equal(200);
      for (const { gone } of [...opened, free]) gone.abort();
    });
  });
});

/** Returns the message of a response, which may be sent as an event. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
function messageOf({ body, text }: TestResponse): any {
  return body ?? JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null');
}
