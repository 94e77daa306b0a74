import { expect } from 'chai';
import { TestBrowser } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
import { accountOf, makeLink, reachSignIn, returned, startLinkServer, verifyUser } from '../support/links.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const CLIENT = { client_id: '12345.67890', client_secret: 'a-client-secret' };
const SCOPES = ['search:read', 'users.profile:write'];
const BOT = { access_token: 'xoxb-of-the-bot', token_type: 'bot', scope: 'chat:write', bot_user_id: 'U0BOT' };
const USER = { id: 'U012AB3CD', access_token: 'xoxp-of-ada', token_type: 'user', scope: SCOPES.join(',') };
const MATCH = { ts: '1767225600.000100', text: 'the launch', channel: { id: 'C012AB3CD', name: 'team' } };

describe('a link to Slack as a user', () => {
  let slack: Upstream;
  let server: TestServer;
  let tokenResponse: object;

  before(async () => {
    slack = await startUpstream(({ target, headers }, res) => {
      const path = target.split('?')[0];
      if (path === '/api/oauth.v2.access') return json(res, 200, { ok: true, team: { id: 'T1' }, ...tokenResponse });
      if (path === '/api/auth.test') return json(res, 200, { ok: true, team_id: 'T1', user_id: USER.id, user: 'ada' });
      const isUser = headers['authorization'] === `Bearer ${USER.access_token}`;
      if (path === '/api/search.messages' && isUser) {
        return json(res, 200, { ok: true, messages: { matches: [MATCH], paging: { page: 1, total: 1 } } });
      }
      return json(res, 200, { ok: false, error: 'not_allowed_token_type' });
    });
    const env = { VALETKEY_ENDPOINT_OVERRIDES: slack.endpointOverride('https://slack.com') };
    server = await startLinkServer({ env });
  });
  after(async () => {
    await server.stop();
    await slack.stop();
  });

  /** Consents at Slack, which then responds to the code with these tokens. @returns the page of the callback */
  async function linked(identifier: string, tokens: object) {
    tokenResponse = tokens;
    const { key_id: connector } = await createConnection(server, {
      connector: 'slack_user',
      ...CLIENT,
      scopes: SCOPES,
    });
    const browser = new TestBrowser({ hosts: { 'https://slack.com': `http://127.0.0.1:${slack.port}` } });
    const before = slack.requests.length;
    const link = await makeLink(server, { connector, identifier, user_id: identifier });
    await reachSignIn(browser, link);
    const [asked] = slack.requests.slice(before).filter(({ target }) => target.startsWith('/oauth/v2/authorize'));
    const query = new URL(asked?.target ?? '', 'https://slack.com').searchParams;
    const callback = new URL(query.get('redirect_uri') as string);
    callback.search = new URLSearchParams({ code: 'a-code', state: query.get('state') as string }).toString();
    return { query, page: await browser.open(callback.href) };
  }

  it('is refused when the token response has only the token of a bot', async () => {
    const { page } = await linked('eve', { ...BOT, authed_user: { id: USER.id } });
    expect(page.location ?? '').to.not.include('auth_request_id');
    expect((await accountOf(server, 'eve'))?.status).to.not.equal('ACTIVE');
  });

  it('requests scopes of the user only, and searches with the token of the user', async () => {
    const { query, page } = await linked('ada', { authed_user: USER });
    expect(query.get('user_scope')).to.equal(SCOPES.join(','));
    expect(query.has('scope')).to.equal(false);
    const verified = await verifyUser(server, returned(page).authRequestId, 'ada');
    expect(verified.status, verified.text).to.equal(200);
    const account = await accountOf(server, 'ada');
    expect(account?.status).to.equal('ACTIVE');
    const answer = await execute(server, account?.id as string, 'slack_user_search_messages', { query: 'launch' });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.data).to.deep.equal([MATCH]);
  });
});
