import { expect } from 'chai';
import { MCP_LOGIN } from '../../core/budgets.ts';
import { TestBrowser } from '../support/browser.ts';
import { DOCUMENT_ORIGIN } from '../support/client-document.ts';
import { allow, codeOf, type LoginWorld, loginRequestOf, REDIRECT_URI, startLoginWorld } from '../support/mcp-login.ts';

/** Attacks with documents that describe clients (OAuth Client ID Metadata Documents). */
describe('attacks with documents of MCP clients', () => {
  let world: LoginWorld;

  beforeEach(async () => {
    world = await startLoginWorld();
  });
  afterEach(() => world.stop());

  const authorize = (parameters: Record<string, string | null> = {}) => world.authorize(new TestBrowser(), parameters);

  /** Expects an error page without a redirect. */
  async function expectRefused(parameters: Record<string, string | null>, text: RegExp) {
    const page = await authorize(parameters);
    expect([page.status, page.location], page.text).to.deep.equal([400, undefined]);
    expect(page.text).to.match(text);
  }

  it('A17: are never requested from private and local addresses, other ports, or by plain http', async () => {
    expect(loginRequestOf(await authorize()), 'the control').to.be.a('string');
    for (const [client_id, text] of [
      ['https://127.0.0.1/client.json', /not a public internet address/],
      ['https://localhost/client.json', /not a public internet address/],
      ['https://10.0.0.1/client.json', /not a public internet address/],
      ['https://169.254.169.254/latest/meta-data', /not a public internet address/],
      ['https://[::1]/client.json', /not a public internet address/],
      ['https://client.example:8443/oauth/client.json', /Port 8443/],
      ['http://client.example/oauth/client.json', /must be an https URL/],
      [world.server.origin, /must be an https URL/],
      ['HTTPS://client.example/oauth/client.json', /normalized form/],
    ] as const) {
      await expectRefused({ client_id }, text);
    }
  });

  it('A18: have one spelling: case, dot segments, escapes, user names and fragments are refused', async () => {
    for (const client_id of [
      `${DOCUMENT_ORIGIN.toUpperCase()}/oauth/client.json`,
      `https://CLIENT.example/oauth/client.json`,
      `${DOCUMENT_ORIGIN}/x/../oauth/client.json`,
      `${DOCUMENT_ORIGIN}/%2e/oauth/client.json`,
      `${DOCUMENT_ORIGIN}/oauth%2Eclient.json`,
      `${DOCUMENT_ORIGIN}:443/oauth/client.json`,
      `https://user@client.example/oauth/client.json`,
      `${DOCUMENT_ORIGIN}/oauth/client.json#a`,
      `${DOCUMENT_ORIGIN}/oauth\\client.json`,
      `${DOCUMENT_ORIGIN}/`,
      DOCUMENT_ORIGIN,
    ]) {
      const before = world.documents.requests;
      const page = await authorize({ client_id });
      expect([page.status, page.location], client_id).to.deep.equal([400, undefined]);
      expect(world.documents.requests, client_id).to.equal(before);
    }
    // The path with another case is a different document with a different id.
    await expectRefused({ client_id: `${DOCUMENT_ORIGIN}/OAuth/client.json` }, /must be the URL of the document/);
    await expectRefused({ client_id: `${DOCUMENT_ORIGIN}/oauth/client.json?a=1` }, /must be the URL of the document/);
  });

  it('A19: are not followed to another address', async () => {
    world.documents.respond = (_req, res) => {
      res.writeHead(302, { location: `${DOCUMENT_ORIGIN}/elsewhere` }).end();
    };
    await expectRefused({}, /returned with status 302/);
    expect(world.documents.requests).to.equal(1);
  });

  it('A20: are read up to 5 KiB, also with a false length, compressed or endless', async () => {
    const padded = (length: number) => {
      const text = JSON.stringify(world.documents.document);
      return `${text}${' '.repeat(length - text.length)}`;
    };
    const respondWith = (text: string) => {
      world.documents.respond = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(text);
      world.clock.advance(MCP_LOGIN.documentMostMs);
    };
    respondWith(padded(MCP_LOGIN.documentBytes));
    expect(loginRequestOf(await authorize()), 'the control').to.be.a('string');
    respondWith(padded(MCP_LOGIN.documentBytes + 1));
    await expectRefused({}, /larger than 5120 bytes/);
    let written = 0;
    world.documents.respond = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!res.destroyed && res.write('x'.repeat(16_384))) written += 16_384;
        if (!res.destroyed) res.once('drain', more);
      };
      more();
    };
    world.clock.advance(MCP_LOGIN.documentMostMs);
    await expectRefused({}, /larger than 5120 bytes/);
    expect(written, 'a document of 1 GB ends in the buffers of the connection').to.be.below(16 * 2 ** 20);
  });

  it("A21: must be JSON with the client's own URL, without a secret, with a name and its addresses", async () => {
    const { document } = world.documents;
    const refusedAs = async (changed: unknown, text: RegExp, headers: Record<string, string> = {}) => {
      world.documents.document = changed as Record<string, unknown>;
      world.documents.headers = headers;
      world.clock.advance(MCP_LOGIN.documentMostMs);
      await expectRefused({}, text);
    };
    await refusedAs({ ...document, client_id: `${DOCUMENT_ORIGIN}/other` }, /must be the URL of the document/);
    await refusedAs({ ...document, client_id: undefined }, /must be the URL of the document/);
    await refusedAs([], /must be the URL of the document/);
    await refusedAs({ ...document, client_secret: 'x' }, /client_secret/);
    await refusedAs({ ...document, client_name: undefined }, /client_name/);
    await refusedAs({ ...document, client_name: '\u200b' }, /client_name/);
    await refusedAs({ ...document, redirect_uris: [] }, /redirect_uris/);
    await refusedAs({ ...document, redirect_uris: ['javascript:alert(1)'] }, /redirect_uris/);
    await refusedAs({ ...document, token_endpoint_auth_method: 'client_secret_basic' }, /must be none/);
    await refusedAs({ ...document, token_endpoint_auth_method: 'private_key_jwt' }, /must be none/);
    await refusedAs(document, /is not JSON/, { 'content-type': 'text/html' });
    const either = {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
    };
    world.documents.document = { ...document, ...either };
    world.documents.headers = { 'content-type': 'application/json; charset=utf-8' };
    world.clock.advance(MCP_LOGIN.documentMostMs);
    expect(loginRequestOf(await authorize()), 'the control: none is among its methods').to.be.a('string');
  });

  it('A22: that change between the steps do not affect a login that has begun', async () => {
    const browser = new TestBrowser();
    const page = await world.authorize(browser);
    world.documents.document = {
      ...world.documents.document,
      client_name: 'Changed',
      redirect_uris: ['https://evil.example/callback'],
    };
    world.clock.advance(MCP_LOGIN.documentKeptMs);
    const { body } = await world.complete(loginRequestOf(page));
    const consent = await browser.follow(await browser.open(body.continue_url));
    expect(consent.text).to.include('Document Client').and.not.include('Changed');
    const sent = await allow(browser, consent);
    expect(sent.location).to.match(new RegExp(`^${REDIRECT_URI}\\?`));
    const requests = world.documents.requests;
    expect((await world.exchange(codeOf(sent))).status).to.equal(200);
    expect(world.documents.requests, 'the token endpoint reads no document').to.equal(requests);
    await expectRefused({}, /redirect_uri is not one that this client has registered/);
  });

  it('A23: are cached as their response allows, between 30 seconds and a day, and failures for 30 seconds', async () => {
    const { documents, clock } = world;
    const readAgain = async (cacheControl: string | undefined, keptMs: number) => {
      documents.headers = cacheControl === undefined ? {} : { 'cache-control': cacheControl };
      clock.advance(MCP_LOGIN.documentMostMs);
      await authorize();
      const { requests } = documents;
      clock.advance(keptMs - 1);
      await authorize();
      expect(documents.requests, `${cacheControl} before`).to.equal(requests);
      clock.advance(1);
      await authorize();
      expect(documents.requests, `${cacheControl} after`).to.equal(requests + 1);
    };
    await readAgain(undefined, MCP_LOGIN.documentKeptMs);
    await readAgain('max-age=600', 600_000);
    await readAgain('no-store', MCP_LOGIN.documentLeastMs);
    await readAgain('max-age=0', MCP_LOGIN.documentLeastMs);
    await readAgain('public, max-age=99999999', MCP_LOGIN.documentMostMs);
    documents.respond = (_req, res) => res.writeHead(500).end();
    await readAgain(undefined, MCP_LOGIN.documentLeastMs);
  });

  it('A24: are requested once for many concurrent logins, and at most 16 at a time', async () => {
    const waiting: (() => void)[] = [];
    const { documents } = world;
    documents.respond = (_req, res) => {
      waiting.push(() =>
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(documents.document)),
      );
    };
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const same = Array.from({ length: 8 }, () => authorize());
    while (waiting.length === 0) await turn();
    const others = Array.from({ length: MCP_LOGIN.fetches }, (_, index) =>
      authorize({ client_id: `${DOCUMENT_ORIGIN}/oauth/${index}.json` }),
    );
    // Only the rejected login ends while no document is served.
    expect((await Promise.race(others)).status).to.equal(503);
    while (waiting.length < MCP_LOGIN.fetches) await turn();
    expect((await authorize({ client_id: `${DOCUMENT_ORIGIN}/oauth/more.json` })).status).to.equal(503);
    for (const respond of waiting) respond();
    const pages = await Promise.all(same);
    for (const page of pages) expect(loginRequestOf(page)).to.be.a('string');
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).to.have.lengthOf(1);
    expect(documents.requests).to.equal(MCP_LOGIN.fetches);
  });

  it('A25: do not pass their grants to a client of the same name that registered itself', async () => {
    const tokens = await world.tokens();
    const { client_id } = (await world.register({ client_name: 'Document Client', redirect_uris: [REDIRECT_URI] }))
      .body;
    expect((await world.refresh(tokens.refresh_token, { client_id })).body.error).to.equal('invalid_grant');
    expect((await world.refresh(tokens.refresh_token)).status, 'the control').to.equal(200);
  });
});
