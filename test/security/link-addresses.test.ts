import { expect } from 'chai';
import { TestBrowser } from '../support/browser.ts';
import {
  accountOf,
  allowVerifyUrls,
  keyConnector,
  makeLink,
  requestLink,
  returned,
  startLinkServer,
  submitLink,
  typeKey,
  VERIFY_URL,
  verifyUser,
} from '../support/links.ts';
import { NAUGHTY } from '../support/naughty.ts';
import { createConnection } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('the addresses of links', () => {
  let server: TestServer;
  let connector: string;

  before(async () => {
    server = await startLinkServer();
    connector = await keyConnector(server);
  });
  after(() => server.stop());

  describe('L4: verification', () => {
    it('is required: a link cannot be created without an address for the verification', async () => {
      const answer = await requestLink(server, { connector, user_verify_url: undefined });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    });

    it('can be disabled for a connection by name, in development on the same machine, and then every user is accepted', async () => {
      const open = await createConnection(server, { connector, verification_mode: 'NONE' });
      const link = await makeLink(server, {
        connector: open.key_id,
        identifier: 'off',
        user_id: 'off',
        user_verify_url: undefined,
      });
      const page = await submitLink(new TestBrowser(), link, { api_key: 'a-key' });
      expect(page.location).to.equal(`${server.origin}/connect/connected`);
      expect((await accountOf(server, 'off'))?.status).to.equal('ACTIVE');
    });

    it('stays required for links that were created while it was enabled', async () => {
      const connection = await createConnection(server, { connector });
      const link = await makeLink(server, { connector: connection.key_id, identifier: 'made-on', user_id: 'made-on' });
      await server.call('PUT', `/api/v1/connections/${connection.id}`, { body: { verification_mode: 'NONE' } });
      expect(returned(await submitLink(new TestBrowser(), link, { api_key: 'a-key' })).authRequestId).not.to.equal('');
      expect((await accountOf(server, 'made-on'))?.status).to.equal('PENDING_VERIFICATION');
    });

    it('is required for links that were created while it was disabled, once it is enabled', async () => {
      const connection = await createConnection(server, { connector, verification_mode: 'NONE' });
      const options = { connector: connection.key_id, identifier: 'made-off', user_id: 'made-off' };
      const link = await makeLink(server, { ...options, user_verify_url: undefined });
      await server.call('PUT', `/api/v1/connections/${connection.id}`, { body: { verification_mode: 'REQUIRED' } });
      expect((await submitLink(new TestBrowser(), link, { api_key: 'a-key' })).status).to.equal(410);
      expect((await accountOf(server, 'made-off'))?.status).to.equal('PENDING_AUTH');
    });

    it('cannot be disabled if others can reach the server, or in production', async () => {
      const other = await addSecondEnvironment(server);
      for (const kind of ['DEVELOPMENT', 'PRODUCTION'] as const) {
        const { call } = kind === 'DEVELOPMENT' ? other : { call: other.call };
        const body = { connector: 'github', verification_mode: 'NONE' };
        const answer = await call('POST', '/api/v1/connections', { body });
        expect(answer.body, kind).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      }
    });

    it('is reported as disabled at the start, and a server that others can reach does not start', async () => {
      const folder = tempDir();
      const base = { dataDir: folder.path };
      const first = await startTestServer(base);
      await createConnection(first, { verification_mode: 'NONE', key_id: 'open-house' });
      await first.stop();
      const second = await startTestServer(base);
      const said = second.logs.map((line) => JSON.parse(line)).find(({ msg }) => /do not verify users/.test(msg));
      expect(said).to.deep.include({ level: 40, connections: ['open-house'] });
      await second.stop();
      const refusal = await startTestServer({ ...base, env: { BASE_URL: 'https://dev.example' } }).then(
        async (third) => void (await third.stop()),
        (error: Error) => error,
      );
      expect(refusal?.name).to.equal('ConfigError');
      expect(refusal?.message).to.include('open-house');
      // The refused start has not stored its address.
      const again = await startTestServer(base);
      expect((await again.call('GET', '/api/v1/environment')).body.environment.base_url).not.to.include('dev.example');
      await again.stop();
      folder.remove();
    });
  });

  describe('L5: open redirects', () => {
    const listed = new URL(VERIFY_URL);

    /**
     * Redirect addresses that have misled other programs: forms of a foreign address, and variants of the allowed one.
     */
    const shapes = (evil: string): string[] => {
      const { host, pathname } = listed;
      const prefixed = [
        '//',
        '///',
        '/\\',
        '\\\\',
        '/%2f',
        '/%5c',
        '%2f%2f',
        '/%09/',
        '/\t/',
        '//\\/',
        './',
        '/.',
        ':',
        '',
      ];
      const schemes = ['http:', 'https:', 'HTTPS:', 'ftp:', 'javascript:', 'data:', 'blob:', 'file:', 'ws:', 'about:'];
      return [
        ...prefixed.map((prefix) => `${prefix}${evil}`),
        ...schemes.flatMap((scheme) => [`${scheme}//${evil}`, `${scheme}${evil}`, `${scheme}\\\\${evil}`]),
        ...['@', '%40', ':80@', ':@', '\\@', '#@', '?@', ';@', '&@', ',', '%00.', '%0d%0a.', '.', '-'].flatMap(
          (glue) => [`https://${host}${glue}${evil}${pathname}`, `https://${evil}${glue}${host}${pathname}`],
        ),
        ...['#', '?', '/', '/..', '/.', '//', '%2e', ' ', '\t', '\n', '\u0000', '\u200b', '.json', '%20'].map(
          (end) => `${VERIFY_URL}${end}`,
        ),
        ...[
          'https://APP.example/verify',
          'https://app.example:443/verify',
          'https://app.example./verify',
          'https://app.example/VERIFY',
        ],
        ...[
          'https://app.example//verify',
          'https://app.example/./verify',
          'https://app.example/x/../verify',
          'http://app.example/verify',
        ],
        ...[
          'https://аpp.example/verify',
          'https://app。example/verify',
          'https://ａpp.example/verify',
          'https://app.example\\verify',
        ],
        ...[
          `${VERIFY_URL}?next=https://${evil}`,
          `${VERIFY_URL}?auth_request_id=1`,
          `${VERIFY_URL}?state=1`,
          `${VERIFY_URL}#${evil}`,
        ],
        ...[
          ` ${VERIFY_URL}`,
          `\u0000${VERIFY_URL}`,
          `"${VERIFY_URL}"`,
          `${VERIFY_URL},https://${evil}`,
          `https:${host}${pathname}`,
        ],
      ];
    };

    it('refuses every address except the one on the list', async () => {
      const payloads = [...new Set([...shapes('evil.example'), ...shapes('2130706433')])];
      expect(payloads.length).to.be.greaterThan(150);
      for (const user_verify_url of payloads) {
        const answer = await requestLink(server, { connector, user_verify_url });
        expect(answer.status, JSON.stringify(user_verify_url)).to.equal(400);
      }
      expect((await requestLink(server, { connector, user_verify_url: VERIFY_URL })).status, 'the control').to.equal(
        200,
      );
    });

    it('sends users to a listed address that has a query, and keeps the query', async () => {
      const address = 'https://app.example/verify?tenant=a%20b&x=%C3%A9';
      await allowVerifyUrls(server, VERIFY_URL, address);
      const link = await makeLink(server, { connector, user_verify_url: address, state: 's' });
      const page = await submitLink(new TestBrowser(), link, { api_key: 'a-key' });
      const url = new URL(page.location as string);
      expect(url.origin).to.equal('https://app.example');
      expect([...url.searchParams.keys()]).to.deep.equal(['tenant', 'x', 'auth_request_id', 'state']);
      expect([url.searchParams.get('tenant'), url.searchParams.get('x')]).to.deep.equal(['a b', 'é']);
    });

    it('checks the address against the list when the link is created', async () => {
      const link = await makeLink(server, { connector });
      await allowVerifyUrls(server, 'https://app.example/elsewhere');
      expect((await requestLink(server, { connector })).status).to.equal(400);
      expect(returned(await submitLink(new TestBrowser(), link, { api_key: 'a-key' })).authRequestId).not.to.equal('');
      await allowVerifyUrls(server, VERIFY_URL);
    });
  });

  it('L16: the state of the application is returned byte for byte, with any content', async () => {
    const texts = NAUGHTY.filter((text) => [...text].length <= 512 && text.isWellFormed());
    expect(texts.length).to.be.greaterThan(250);
    for (const [place, state] of texts.entries()) {
      const link = await makeLink(server, { connector, identifier: `state-${place}`, user_id: 'states', state });
      const page = await submitLink(new TestBrowser(), link, { api_key: 'a-key' });
      expect(returned(page).state, JSON.stringify(state)).to.equal(state);
      expect(page.headers['location']).to.match(
        /^https:\/\/app\.example\/verify\?auth_request_id=[\w-]{43}&state=[\x21-\x7e]*$/,
      );
    }
  });

  it('L19: the address after verification is determined by the connection, not by a request', async () => {
    // The page links back to the application only if the environment lists one of its addresses.
    const ours = `${server.origin}/connect/connected?application=${encodeURIComponent('https://app.example')}`;
    const misleading: Record<string, string>[] = [
      {},
      { referer: 'https://evil.example/' },
      { origin: 'https://evil.example' },
    ];
    for (const [place, headers] of misleading.entries()) {
      const identifier = `sent-${place}`;
      const { authRequestId } = await typeKey(await makeLink(server, { connector, identifier, user_id: 'l19' }));
      const body = { auth_request_id: authRequestId, identifier };
      const path = '/api/v1/connected_accounts/user/verify';
      const extra = { ...body, post_user_verify_redirect_url: 'https://evil.example' };
      expect((await server.call('POST', path, { body: extra })).status).to.equal(400);
      const answer = await server.call('POST', path, { body, headers });
      expect(answer.body).to.deep.equal({ post_user_verify_redirect_url: ours });
    }
    const target = 'https://app.example/done';
    const connection = await createConnection(server, { connector, post_user_verify_redirect_url: target });
    const link = await makeLink(server, { connector: connection.key_id, identifier: 'own-target', user_id: 'l19' });
    const { authRequestId } = await typeKey(link);
    const answer = await verifyUser(server, authRequestId, 'own-target');
    expect(answer.body.post_user_verify_redirect_url).to.equal(target);
  });
});
