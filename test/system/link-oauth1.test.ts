import { expect } from 'chai';
import { TestBrowser } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
import { accountOf, makeLink, returned, startLinkServer, submitLink, verifyUser } from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT, type OAuth1Counterpart, startOAuth1Provider } from './support/oauth1-provider.ts';

const PROVIDER = 'https://boards.example';
const OURS = 'https://valetkey.example';
const CONFIG = {
  request_token_uri: `${PROVIDER}/request_token`,
  authorize_uri: `${PROVIDER}/authorize`,
  token_uri: `${PROVIDER}/access_token`,
  user_info_uri: `${PROVIDER}/api`,
  identity_field: 'user',
};

describe('a link to the provider of oauthlib, from the first page to a signed call', () => {
  let provider: OAuth1Counterpart;
  let server: TestServer;
  let browser: TestBrowser;

  before(async () => {
    provider = await startOAuth1Provider(PROVIDER);
    server = await startLinkServer({
      env: { BASE_URL: OURS, VALETKEY_ENDPOINT_OVERRIDES: `${PROVIDER}=${provider.origin}` },
    });
  });
  after(async () => {
    await server?.stop();
    await provider?.stop();
  });
  beforeEach(() => {
    browser = new TestBrowser({ hosts: { [PROVIDER]: provider.origin, [OURS]: server.origin } });
  });

  async function linkOf(identifier: string, config: object = {}, secret = CLIENT.secret): Promise<string> {
    const made = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: PROVIDER,
      auth_patterns: [{ type: 'BOARD_OAUTH1', oauth_config: { ...CONFIG, ...config } }],
    });
    const client = { client_id: CLIENT.key, client_secret: secret };
    const { key_id: connector } = await createConnection(server, { connector: made.identifier, ...client });
    return makeLink(server, { connector, identifier, user_id: identifier });
  }

  /** Opens the provider's page and chooses. @returns the address to which the provider redirects the browser */
  async function choose(link: string, choice: string): Promise<URL> {
    const page = await browser.follow(await submitLink(browser, link));
    expect(page.text).to.contain('Allow');
    return new URL((await browser.submit(page.url, { choice })).location ?? '');
  }

  it('fails with a wrong secret of the client (negative control)', async () => {
    expect((await submitLink(browser, await linkOf('nobody', {}, 'guessed'))).status).to.equal(502);
  });

  it('grants nothing for a guessed verifier (negative control)', async () => {
    const back = await choose(await linkOf('eve'), 'yes');
    back.searchParams.set('oauth_verifier', 'a-guessed-verifier-of-ours-xx');
    expect((await browser.open(back.href)).status).to.equal(502);
    expect((await accountOf(server, 'eve'))?.status).to.equal('PENDING_AUTH');
  });

  it('detects that the user declined', async () => {
    expect((await browser.open((await choose(await linkOf('nora'), 'no')).href)).status).to.equal(403);
  });

  for (const signature_method of ['HMAC-SHA1', 'HMAC-SHA256']) {
    for (const signature_placement of ['header', 'query', 'body']) {
      it(`creates an account whose calls are accepted: ${signature_method} in the ${signature_placement}`, async () => {
        const identifier = `${signature_method}-${signature_placement}`;
        const back = await choose(await linkOf(identifier, { signature_method, signature_placement }), 'yes');
        const { authRequestId } = returned(await browser.open(back.href));
        expect((await verifyUser(server, authRequestId, identifier)).status).to.equal(200);
        const id = (await accountOf(server, identifier))?.id ?? '';
        for (const query of [{ q: 'a b' }, { q: 'ü!*' }]) {
          const { body, text } = await execute(server, id, 'http_get', { path: '/api', query });
          expect(body.data?.user, text).to.equal('maria');
        }
      });
    }
  }
});
