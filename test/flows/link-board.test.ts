import { expect } from 'chai';
import { hiddenFields, TestBrowser } from '../support/browser.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { execute } from '../support/execute.ts';
import { accountOf, makeLink, returned, startLinkServer, submitLink, verifyUser } from '../support/links.ts';
import { BOARD, type Board, KEY, SECRET, startBoard } from '../support/oauth1-server.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

const SIGNED = {
  request_token_uri: `${BOARD}/request_token`,
  authorize_uri: `${BOARD}/authorize`,
  token_uri: `${BOARD}/access_token`,
  user_info_uri: `${BOARD}/me`,
  identity_field: 'username',
};
const BY_FRAGMENT = {
  authorize_uri: `${BOARD}/authorize-by-fragment`,
  return_parameter: 'return_url',
  user_info_uri: `${BOARD}/me`,
  extra_authorize_params: { response_type: 'token', callback_method: 'fragment' },
};

describe('an account of a board application (Trello), over sockets', () => {
  let board: Board;
  let server: TestServer;
  let clock: TestClock;
  let browser: TestBrowser;

  beforeEach(async () => {
    clock = testClock(Date.now());
    board = await startBoard(clock.now, 'http://127.0.0.1:');
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: board.override },
      overrides: { now: clock.now },
    });
    browser = new TestBrowser({ hosts: { [BOARD]: `http://127.0.0.1:${board.port}` } });
  });
  afterEach(async () => {
    await server.stop();
    await board.stop();
  });

  async function connectorFor(config: object, secret: string | null = SECRET): Promise<string> {
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: `${BOARD}/api`,
      auth_patterns: [{ type: 'BOARD_OAUTH1', oauth_config: config }],
    });
    const client = { client_id: KEY, ...(secret !== null && { client_secret: secret }) };
    return (await createConnection(server, { connector: identifier, ...client })).key_id;
  }

  const linkFor = (connector: string) => makeLink(server, { connector, identifier: 'ada', user_id: 'ada' });

  async function verified(authRequestId: string): Promise<string> {
    const answer = await verifyUser(server, authRequestId, 'ada');
    expect(answer.status, answer.text).to.equal(200);
    return (await accountOf(server, 'ada'))?.id ?? '';
  }

  const isCallback = (url: URL) => url.pathname.startsWith('/oauth/callback/');

  describe('by the three legs of OAuth 1.0a', () => {
    async function backFrom(link: string, says = 'yes') {
      const start = await submitLink(browser, link);
      const asked = new URL(start.location ?? '');
      asked.searchParams.set('says', says);
      return browser.follow({ ...start, location: asked.href }, isCallback);
    }

    async function connected(): Promise<string> {
      const link = await linkFor(await connectorFor(SIGNED));
      return verified(returned(await browser.open((await backFrom(link)).location ?? '')).authRequestId);
    }

    it('cannot begin with a wrong secret of the application (negative control)', async () => {
      const page = await submitLink(browser, await linkFor(await connectorFor(SIGNED, 'guessed')));
      expect(page.status).to.equal(502);
    });

    it('is not granted with a verifier that the provider did not issue (negative control)', async () => {
      const back = new URL((await backFrom(await linkFor(await connectorFor(SIGNED)))).location ?? '');
      back.searchParams.set('oauth_verifier', 'guessed');
      expect((await browser.open(back.href)).status).to.equal(502);
      expect((await accountOf(server, 'ada'))?.status).to.equal('PENDING_AUTH');
    });

    it('is not granted with the token of another flow (L8)', async () => {
      const link = await linkFor(await connectorFor(SIGNED));
      const [mine, other] = [await backFrom(link), await backFrom(link)];
      const mixed = new URL(mine.location ?? '');
      for (const name of ['oauth_token', 'oauth_verifier']) {
        mixed.searchParams.set(name, new URL(other.location ?? '').searchParams.get(name) ?? '');
      }
      expect((await browser.open(mixed.href)).status).to.equal(502);
    });

    it('is not granted to another browser than the one that started (L3)', async () => {
      const back = await backFrom(await linkFor(await connectorFor(SIGNED)));
      expect((await new TestBrowser().open(back.location ?? '')).status).to.equal(400);
    });

    it('is distinguished when the user declines', async () => {
      const back = await backFrom(await linkFor(await connectorFor(SIGNED)), 'no');
      expect((await browser.open(back.location ?? '')).status).to.equal(403);
    });

    it('signs each of its calls separately', async () => {
      const id = await connected();
      const answers = [await execute(server, id, 'http_get', { path: '/me', query: { q: 'a b&ü*' } })];
      answers.push(await execute(server, id, 'http_post', { path: '/cards', body: { name: 'card' } }));
      for (const { body, text } of answers) expect(body.data?.username, text).to.equal('maria');
      const [first, second] = board.requests.slice(-2);
      expect(first?.headers['authorization']).not.to.equal(second?.headers['authorization']);
    });

    it('creates signatures that are valid once, and for one request (negative controls)', async () => {
      const id = await connected();
      await execute(server, id, 'http_get', { path: '/me' });
      const sent = board.taken.at(-1);
      if (!sent) throw new Error('nothing was sent');
      expect(board.isTaken(sent), 'a nonce that was used').to.equal(false);
      const fresh = sent.headers['authorization']?.replace(/oauth_nonce="\w+"/, 'oauth_nonce="another"') ?? '';
      const altered = { ...sent, headers: { ...sent.headers, authorization: fresh } };
      expect(board.isTaken(altered), 'a forged signature').to.equal(false);
    });

    it('returns its token, and never the token secret', async () => {
      const id = await connected();
      const { body, text } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
      expect(Object.keys(body.connected_account.authorization_details.oauth_token)).to.have.members([
        'access_token',
        'scopes',
      ]);
      expect(text).not.to.contain('token_secret');
    });

    it('deletes the token secret with its token', async () => {
      const id = await connected();
      const change = { authorization_details: { oauth_token: { access_token: 'another-token' } } };
      const put = await server.call('PUT', '/api/v1/connected_accounts', { body: { id, connected_account: change } });
      expect(put.status, put.text).to.equal(200);
      const { body } = await execute(server, id, 'http_get', { path: '/me' });
      expect(body.tool_error.kind).to.equal('upstream_auth');
      expect(board.requests.at(-1)?.headers['authorization']).not.to.contain('oauth_signature');
    });

    it('previews a call without secrets', async () => {
      const id = await connected();
      const { body } = await execute(server, id, 'http_get', { path: '/me' }, { body: { dry_run: true } });
      const { authorization } = body.dry_run_request.headers;
      expect(authorization).to.contain(`oauth_consumer_key="${KEY}"`).and.to.contain('oauth_signature="[secret]"');
      expect(authorization).to.contain('oauth_token="[secret]"');
    });

    it('is not refreshed when the provider rejects its token', async () => {
      const id = await connected();
      board.endTokens();
      expect((await execute(server, id, 'http_get', { path: '/me' })).body.tool_error).to.include({
        kind: 'upstream_auth',
        retryable: false,
      });
    });

    it('signs in the query if the provider requires it, and for another account by its name', async () => {
      const link = await linkFor(await connectorFor({ ...SIGNED, signature_placement: 'query', realm: 'boards' }));
      const id = await verified(returned(await browser.open((await backFrom(link)).location ?? '')).authRequestId);
      expect((await execute(server, id, 'http_get', { path: '/me' })).body.data.username).to.equal('maria');
      expect(board.taken.at(-1)?.target).to.contain('oauth_signature=');
    });
  });

  describe('by a token in the fragment of the address', () => {
    /** @returns the page that reads the fragment, and the fragment, which is never sent to a server */
    async function backFrom(link: string) {
      const sent = await browser.follow(await submitLink(browser, link), isCallback);
      const back = new URL(sent.location ?? '');
      const fragment = back.hash;
      back.hash = '';
      return { page: await browser.open(back.href), fragment };
    }

    it('needs no secret of the application to begin, because nothing is signed', async () => {
      const page = await submitLink(browser, await linkFor(await connectorFor(BY_FRAGMENT, null)));
      expect(page.status, page.text).to.equal(303);
    });

    it('shows a page with instructions, whose only script is served by the server itself', async () => {
      const { page } = await backFrom(await linkFor(await connectorFor(BY_FRAGMENT)));
      expect(page.status).to.equal(200);
      expect(page.text).to.contain('One step is left').and.to.contain('comes after the character #');
      const policy = String(page.headers['content-security-policy']);
      expect(policy).to.contain("default-src 'none'; script-src 'self';");
      const script = await browser.open(`${server.origin}/connect/assets/fragment.js`);
      expect([script.status, String(script.headers['content-type'])]).to.deep.equal([
        200,
        'text/javascript; charset=utf-8',
      ]);
      expect(page.text.match(/<script[^>]*>/g)).to.deep.equal(['<script src="/connect/assets/fragment.js" defer>']);
    });

    it('accepts the text that the user copies, whole or in part, and makes calls with the token', async () => {
      const { page, fragment } = await backFrom(await linkFor(await connectorFor(BY_FRAGMENT)));
      const done = await browser.submit(page.url, { ...hiddenFields(page), field_token: ` ${fragment} ` });
      const id = await verified(returned(done).authRequestId);
      expect((await execute(server, id, 'http_get', { path: '/me' })).body.data.username).to.equal('maria');
    });

    it('rejects a token that the provider did not issue for our key (negative control)', async () => {
      const { page } = await backFrom(await linkFor(await connectorFor(BY_FRAGMENT)));
      const done = await browser.submit(page.url, { field_token: 'a-token-of-somebody-else' });
      expect(done.status).to.equal(502);
      expect((await accountOf(server, 'ada'))?.status).to.equal('PENDING_AUTH');
    });

    it('rejects a token from another page, another browser or another flow (L3, L8)', async () => {
      const link = await linkFor(await connectorFor(BY_FRAGMENT));
      const { page, fragment } = await backFrom(link);
      const typed = { field_token: fragment };
      expect((await browser.submit(page.url, typed, { 'sec-fetch-site': 'cross-site' })).status).to.equal(403);
      expect((await new TestBrowser().submit(page.url, typed)).status).to.equal(400);
      const forged = new URL(page.url);
      forged.searchParams.set('state', 'A'.repeat(43));
      expect((await browser.submit(forged.href, typed)).status).to.equal(400);
      expect((await browser.submit(page.url, typed)).status).to.equal(303);
      expect((await browser.submit(page.url, typed)).status, 'a second time').to.equal(400);
    });

    it('asks again when nothing was submitted, and the flow remains usable', async () => {
      const { page, fragment } = await backFrom(await linkFor(await connectorFor(BY_FRAGMENT)));
      const again = await browser.submit(page.url, { field_token: '' });
      expect([again.status, /is required/.test(again.text)]).to.deep.equal([400, true]);
      expect((await browser.submit(page.url, { field_token: fragment })).status).to.equal(303);
    });

    it('is distinguished when the user declines', async () => {
      const { page } = await backFrom(await linkFor(await connectorFor(BY_FRAGMENT)));
      expect((await browser.submit(page.url, { error: 'access_denied' })).status).to.equal(403);
    });

    it('keeps the token out of logs, and encrypted in the database', async () => {
      const { page, fragment } = await backFrom(await linkFor(await connectorFor(BY_FRAGMENT)));
      await browser.submit(page.url, { field_token: fragment });
      const token = fragment.replace('#token=', '');
      expect(server.logs.join('\n')).not.to.contain(token);
      expect(JSON.stringify(dumpDatabase(server))).not.to.contain(token);
    });
  });
});
