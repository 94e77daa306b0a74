import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { TestBrowser, withoutIsolation } from '../support/browser.ts';
import { dumpDatabase } from '../support/database-file.ts';
import {
  accountOf,
  browserFor,
  consent,
  consentConnector,
  makeLink,
  reachSignIn,
  returned,
  startLinkServer,
  submitLink,
  typeKey,
  verifyUser,
} from '../support/links.ts';
import { API_KEY_PATTERN, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const DESK = {
  type: 'BASIC',
  display_name: 'Help desk login',
  description: 'The one that you sign in with.',
  fields: [
    {
      field_name: 'domain',
      label: 'Sub-domain',
      input_type: 'text',
      required: true,
      is_path_param: true,
      hint: 'Of your desk',
    },
    { field_name: 'username', label: 'User name', input_type: 'text', required: true },
    { field_name: 'password', label: 'Password', input_type: 'password', required: true, pattern: '.{4,20}' },
    { field_name: 'region', label: 'Region', input_type: 'select', options: ['eu', 'us'] },
    { field_name: 'note', label: 'Note', input_type: 'textarea' },
  ],
};

describe('forms of links', () => {
  let as: AuthorizationServer;
  let api: Upstream;
  let server: TestServer;
  let desk: string;
  let made = 0;

  before(async () => {
    [as, api] = [await startAuthorizationServer(), await startUpstream()];
    const overrides = `${as.override},${api.endpointOverride('https://acme.desk.example')}`;
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides } });
    const proxy = { proxy_enabled: true, proxy_url: 'https://{{domain}}.desk.example' };
    desk = (await createProvider(server, { display_name: 'Desk', auth_patterns: [DESK], ...proxy })).identifier;
  });
  after(async () => {
    await server.stop();
    await Promise.all([as.stop(), api.stop()]);
  });

  const person = () => {
    made += 1;
    return { identifier: `typist-${made}`, user_id: `typist-${made}` };
  };
  const configOf = async (identifier: string) => {
    const { id } = (await accountOf(server, identifier)) as { id: string };
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    return body.connected_account;
  };

  describe('for credentials that the user types', () => {
    it('ask for the fields of the pattern, with their labels, hints and choices', async () => {
      const page = await new TestBrowser().open(await makeLink(server, { connector: desk }));
      const text = withoutIsolation(page.text);
      expect(text)
        .to.include('<h1>Connect Desk</h1>')
        .and.include('Help desk login')
        .and.include('The one that you sign in');
      for (const { field_name: name, label } of DESK.fields) {
        expect(text).to.match(new RegExp(`<label for="field_${name}">${label}`));
      }
      expect(text).to.match(/id="field_domain"[^>]*aria-describedby="field_domain_hint"[^>]*aria-required="true"/);
      expect(text).to.match(
        /<select id="field_region"[^>]*>.*<option value="eu">eu<\/option><option value="us">us<\/option>/,
      );
      expect(text).to.match(/<textarea id="field_note"/);
      expect(text).to.match(/<input id="field_password"[^>]*type="password" value="">/);
      expect(text).to.include('Region <span class="optional">(optional)</span>');
    });

    it('show the error at each field, keep values that are not secret, and store nothing', async () => {
      const link = await makeLink(server, { connector: desk, ...person() });
      const typed = {
        domain: 'Not A Label',
        username: 'ada:x',
        password: 'abc',
        region: 'mars',
        note: 'a-secret-note',
      };
      const before = dumpDatabase(server);
      const page = await submitLink(new TestBrowser(), link, typed);
      expect(page.status).to.equal(400);
      for (const name of ['domain', 'username', 'password', 'region']) {
        expect(page.text, name).to.include(`id="field_${name}_problem"`);
        expect(page.text).to.match(new RegExp(`id="field_${name}"[^>]*aria-invalid="true"`));
      }
      expect(page.text).not.to.include('field_note_problem');
      const shown = withoutIsolation(page.text).replaceAll(/ data-pattern="[^"]*"/g, '');
      expect(shown).to.include('Password has an invalid format.').and.not.include('.{4,20}');
      expect(page.text)
        .to.match(/<div class="problems" role="alert">/)
        .and.include('<title>Error: Connect Desk</title>');
      expect(page.text).to.include('value="Not A Label"').and.include('value="ada:x"');
      expect(page.text).not.to.match(/abc"|a-secret-note/);
      expect(dumpDatabase(server)).to.deep.equal(before);
    });

    it('store the typed credentials encrypted once the user is verified, and tools work with them', async () => {
      const { identifier, user_id } = person();
      const link = await makeLink(server, { connector: desk, identifier, user_id });
      const typed = { domain: ' acme ', username: 'ada', password: 'the-password', region: 'eu' };
      const page = await submitLink(new TestBrowser(), link, typed);
      const { authRequestId } = returned(page);
      expect(JSON.stringify(dumpDatabase(server))).not.to.include('the-password');
      expect((await configOf(identifier)).authorization_details).to.deep.equal({});
      expect((await verifyUser(server, authRequestId, identifier)).status).to.equal(200);
      const account = await configOf(identifier);
      const shown = { domain: 'acme', username: 'ada', region: 'eu' };
      expect(account).to.deep.include({ status: 'ACTIVE', authorization_details: { static_auth: { details: shown } } });
      const run = { tool_name: 'http_get', tool_input: { path: '/tickets' }, connected_account_id: account.id };
      const answer = await server.call('POST', '/api/v1/execute_tool', { body: run });
      expect(answer.status, answer.text).to.equal(200);
      const sent = Buffer.from('ada:the-password').toString('base64');
      expect(api.requests.at(-1)?.headers['authorization']).to.equal(`Basic ${sent}`);
    });

    it('replace the credentials of a working account when its user is verified', async () => {
      const connector = (await createProvider(server, { auth_patterns: [API_KEY_PATTERN] })).identifier;
      const { identifier, user_id } = person();
      const connect = async (key: string) => {
        const { authRequestId } = await typeKey(await makeLink(server, { connector, identifier, user_id }), key);
        return authRequestId;
      };
      await verifyUser(server, await connect('the-first-key'), identifier);
      const second = await connect('the-second-key');
      const keyOf = async () => {
        const { id } = await configOf(identifier);
        const { body } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
        return body.connected_account.authorization_details.static_auth.details.api_key;
      };
      expect([await keyOf(), (await accountOf(server, identifier))?.status]).to.deep.equal(['the-first-key', 'ACTIVE']);
      await verifyUser(server, second, identifier);
      expect(await keyOf()).to.equal('the-second-key');
    });
  });

  describe('for a provider', () => {
    const field = { field_name: 'team', label: 'Team', input_type: 'text', required: true, pattern: '[a-z]{3,9}' };

    async function teamConnector() {
      const pattern = { ...as.pattern(), account_fields: [field] };
      return consentConnector(server, { ...as, pattern: () => pattern as ReturnType<AuthorizationServer['pattern']> });
    }

    it("ask for the account's missing values before the redirect, and keep them until the user is verified", async () => {
      const { connector } = await teamConnector();
      const { identifier, user_id } = person();
      const link = await makeLink(server, { connector, identifier, user_id });
      const browser = browserFor(as);
      const wrong = await submitLink(browser, link, { team: 'UPPER' });
      expect(wrong.status).to.equal(400);
      expect(wrong.text).to.include('field_team_problem');
      expect(withoutIsolation((await submitLink(browser, link)).text)).to.include('Team is required.');
      const leading = await consent(browser, await reachSignIn(browser, link, { team: 'blue' }), 'typist');
      const { authRequestId } = returned(await browser.open(leading.location as string));
      expect((await configOf(identifier)).api_config).to.deep.equal({});
      await verifyUser(server, authRequestId, identifier);
      expect((await configOf(identifier)).api_config).to.deep.equal({ team: 'blue' });
      const again = await browser.open(await makeLink(server, { connector, identifier, user_id }));
      expect(again.text, 'what is known is not asked for').not.to.include('field_team');
    });

    it('do not ask for values that the application has set', async () => {
      const { connector } = await teamConnector();
      const owner = person();
      const body = { connector, ...owner, connected_account: { api_config: { team: 'red' } } };
      await server.call('POST', '/api/v1/connected_accounts', { body });
      const page = await new TestBrowser().open(await makeLink(server, { connector, ...owner }));
      expect(page.text).not.to.include('field_team');
      const forced = await reachSignIn(browserFor(as), await makeLink(server, { connector, ...owner }), {
        team: 'blue',
      });
      expect(forced.url).to.include('/sign-in/');
      expect((await configOf(owner.identifier)).api_config).to.deep.equal({ team: 'red' });
    });

    it('show the name of the application, the user, and the requested access in words', async () => {
      const { connector } = await consentConnector(server, as, {
        connection: { organization_name: 'Widgets Ltd', scopes: ['openid', 'files:write', 'unknown:scope'] },
      });
      const page = await new TestBrowser().open(
        await makeLink(server, { connector, identifier: 'ada@widgets.example', user_id: 'ada' }),
      );
      const text = withoutIsolation(page.text).replaceAll('<wbr>', '');
      expect(text).to.include('<strong>Widgets Ltd</strong> asks for access to your Acme Files account.');
      expect(text).to.include('<dd>ada@widgets.example</dd>');
      for (const word of ['Who you are', 'Your user name', 'Change files', 'unknown:scope'])
        expect(text).to.include(word);
      expect(text).not.to.include('Read files');
    });

    it('reject the callback when the provider moves while the user is away (P2)', async () => {
      const { connector } = await consentConnector(server, as);
      const owner = person();
      const browser = browserFor(as);
      const link = await makeLink(server, { connector, ...owner });
      const leading = await consent(browser, await reachSignIn(browser, link), 'typist');
      const { body } = await server.call('GET', '/api/v1/connections');
      const { provider_key: provider } = body.connections.find(
        ({ key_id }: { key_id: string }) => key_id === connector,
      );
      const moved = as.pattern({ token_uri: 'https://elsewhere.example/token' });
      await server.call('PUT', `/api/v1/custom-providers/${provider}`, { body: { auth_patterns: [moved] } });
      const hits = as.hits('/token');
      expect((await browser.open(leading.location as string)).status).to.equal(410);
      expect(as.hits('/token')).to.equal(hits);
      expect((await accountOf(server, owner.identifier))?.status).to.equal('PENDING_AUTH');
    });

    it('verify no user if the provider has moved since the link was finished (P2)', async () => {
      const { connector } = await consentConnector(server, as);
      const owner = person();
      const browser = browserFor(as);
      const leading = await consent(
        browser,
        await reachSignIn(browser, await makeLink(server, { connector, ...owner })),
        'x',
      );
      const { authRequestId } = returned(await browser.open(leading.location as string));
      const { body } = await server.call('GET', '/api/v1/connections');
      const { provider_key: provider } = body.connections.find(
        ({ key_id }: { key_id: string }) => key_id === connector,
      );
      const moved = as.pattern({ user_info_uri: 'https://elsewhere.example/me' });
      await server.call('PUT', `/api/v1/custom-providers/${provider}`, { body: { auth_patterns: [moved] } });
      expect((await verifyUser(server, authRequestId, owner.identifier)).status).to.equal(404);
      expect((await accountOf(server, owner.identifier))?.status).to.equal('PENDING_AUTH');
    });
  });

  it('are the next action of an execution whose account cannot be used', async () => {
    const { connector } = await consentConnector(server, as);
    const owner = person();
    const link = await makeLink(server, { connector, ...owner });
    const { id } = (await accountOf(server, owner.identifier)) as { id: string };
    const run = async () => {
      const body = { tool_name: 'http_get', tool_input: { path: '/' }, connected_account_id: id };
      return (await server.call('POST', '/api/v1/execute_tool', { body })).body.next_action;
    };
    expect(await run()).to.include({ type: 'authorize', operation_id: 'generateMagicLink' });
    const browser = browserFor(as);
    await browser.open((await consent(browser, await reachSignIn(browser, link), 'x')).location as string);
    expect(await run()).to.include({ type: 'verify', operation_id: 'verifyUser' });
  });
});
