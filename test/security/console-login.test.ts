import { expect } from 'chai';
import { OPERATORS } from '../../core/budgets.ts';
import { operationsOf } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { auditOf } from '../support/audit.ts';
import { testClock } from '../support/clock.ts';
import { callConsole, cookieOf, logIn, offer } from '../support/operators.ts';
import { addSecondEnvironment, type SecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

/** Returns the scopes that an operation requires; none if it needs no access token. */
function scopesOf(security: unknown): string[] {
  return (security as { oauth2?: string[] }[]).flatMap(({ oauth2 = [] }) => oauth2);
}

describe('login to the console', () => {
  const clock = testClock();
  let server: TestServer;
  let other: SecondEnvironment;

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
    other = await addSecondEnvironment(server);
  });
  after(() => server.stop());

  it('sets a cookie that no script and no other site can use', async () => {
    const { token } = await offer(server);
    const { headers } = await callConsole(server, '', { body: { token } });
    expect(headers['set-cookie']).to.match(
      /^valetkey-console=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const made = await other.call('POST', '/api/v1/operator_sessions', { body: { operator: 'a', role: 'OWNER' } });
    const secure = await callConsole(server, '', {
      body: { token: made.body.login_url.split('#')[1] },
      headers: { host: other.host },
    });
    expect(secure.headers['set-cookie']).to.match(/^__Host-valetkey-console=.*; SameSite=Strict; Secure$/);
  });

  it('separates the sessions of environments (C1)', async () => {
    const { token } = await offer(server);
    const headers = { host: other.host };
    expect((await callConsole(server, '', { body: { token }, headers })).status).to.equal(401);
    const { cookie, accessToken } = await logIn(server);
    const secret = cookie.split('=')[1];
    const there = await callConsole(server, ':token', { headers, cookie: `__Host-valetkey-console=${secret}` });
    expect(there.status).to.equal(401);
    expect((await other.call('GET', '/api/v1/tools', { token: accessToken })).status).to.equal(401);
    expect((await callConsole(server, '', { body: { token } })).status).to.equal(200);
  });

  it('accepts the token of an address once, also when two browsers send it concurrently', async () => {
    const { token } = await offer(server);
    const answers = await Promise.all([1, 2, 3].map(() => callConsole(server, '', { body: { token } })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
    expect((await callConsole(server, '', { body: { token } })).status).to.equal(401);
  });

  it('rejects an address that has expired', async () => {
    const { token } = await offer(server);
    clock.advance(OPERATORS.addressMs);
    expect((await callConsole(server, '', { body: { token } })).status).to.equal(401);
  });

  for (const body of [undefined, {}, { token: null }, { token: ['x'] }, { token: 'x'.repeat(43) }, [], 'text', 7]) {
    it(`rejects ${JSON.stringify(body)} in place of a token`, async () => {
      const answer = await callConsole(server, '', body === undefined ? {} : { body });
      expect(answer.status).to.equal(401);
      expect(answer.headers['set-cookie']).to.equal(undefined);
    });
  }

  it('gives each login a new secret, so that a cookie which was planted before gets no session (fixation)', async () => {
    const planted = `valetkey-console=${'A'.repeat(43)}`;
    const { token } = await offer(server);
    const answer = await callConsole(server, '', { body: { token }, cookie: planted });
    expect(cookieOf(answer)).not.to.equal(planted);
    expect((await callConsole(server, ':token', { cookie: planted })).status).to.equal(401);
    expect((await callConsole(server, ':token', { cookie: cookieOf(answer) })).status).to.equal(200);
  });

  it('does not accept the token of an address as a cookie, or two cookies', async () => {
    const { token } = await offer(server);
    expect((await callConsole(server, ':token', { cookie: `valetkey-console=${token}` })).status).to.equal(401);
    const { cookie } = await logIn(server);
    expect((await callConsole(server, ':token', { cookie: `${cookie}; ${cookie}` })).status).to.equal(401);
  });

  it('ends sessions and their access tokens after their time', async () => {
    const { cookie, accessToken } = await logIn(server);
    clock.advance(OPERATORS.tokenMs);
    expect((await server.call('GET', '/api/v1/tools', { token: accessToken })).status).to.equal(401);
    expect((await callConsole(server, ':token', { cookie })).status).to.equal(200);
    clock.advance(OPERATORS.sessionMs);
    expect((await callConsole(server, ':token', { cookie })).status).to.equal(401);
  });

  it('issues no token that outlives its session', async () => {
    const { cookie } = await logIn(server);
    clock.advance(OPERATORS.sessionMs - 30_000);
    const { body } = await callConsole(server, ':token', { cookie });
    expect(body.expires_in).to.equal(30);
  });

  for (const [name, headers] of [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a form, which cannot set the header', { 'valetkey-console': '' }],
  ] as const) {
    it(`rejects a request from ${name} (CSRF)`, async () => {
      const { cookie } = await logIn(server);
      const { token } = await offer(server);
      const requests = { '': { body: { token } }, ':token': {}, ':end': {} };
      for (const [path, request] of Object.entries(requests)) {
        const answer = await callConsole(server, path, { ...request, cookie, headers });
        expect(answer.body, path).to.include({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
      }
      expect((await callConsole(server, ':token', { cookie })).status).to.equal(200);
    });
  }

  it('does not accept the cookie at operations of the API', async () => {
    const { cookie } = await logIn(server);
    const answer = await server.call('GET', '/api/v1/tools', { token: null, headers: { cookie } });
    expect(answer.status).to.equal(401);
  });

  for (const [role, allowed, refused] of [
    ['VIEWER', ['/api/v1/executions', '/api/v1/audit_events'], ['/api/v1/environment', '/api/v1/api_clients']],
    ['EDITOR', ['/api/v1/executions'], ['/api/v1/environment', '/api/v1/operator_sessions']],
    ['OWNER', ['/api/v1/environment', '/api/v1/operator_sessions'], []],
  ] as const) {
    it(`gives the role ${role} its scopes and no others`, async () => {
      const { accessToken: token } = await logIn(server, 'ada', role);
      for (const path of allowed) expect((await server.call('GET', path, { token })).status, path).to.equal(200);
      for (const path of refused) expect((await server.call('GET', path, { token })).status, path).to.equal(403);
      const secret = await server.call('GET', '/api/v1/connected_accounts/auth?id=ca_x', { token });
      expect(secret.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      const write = await server.call('POST', '/api/v1/custom-providers', { token, body: {} });
      expect(write.status).to.equal(role === 'VIEWER' ? 403 : 400);
    });
  }

  it('lets a viewer only read: every operation that requires another scope is refused', async () => {
    const { accessToken: token } = await logIn(server, 'ada', 'VIEWER');
    const tried: string[] = [];
    for (const { id, method, path, definition } of operationsOf(contract)) {
      const required = scopesOf(definition['security'] ?? contract['security']);
      if (required.length === 0 || required.every((scope) => scope.endsWith(':read'))) continue;
      const target = path.replaceAll(/\{\w+\}/g, 'x');
      const answer = await server.call(method.toUpperCase(), target, { token, ...(method !== 'get' && { body: {} }) });
      expect(answer.body, id).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      tried.push(id);
    }
    expect(tried).to.include.members(['executeTool', 'updateEnvironment', 'deleteConnection', 'createOperatorSession']);
  });

  it('records every action with the operator as the actor', async () => {
    const { id, cookie, accessToken: token } = await logIn(server, 'ada@acme.example');
    const body = { display_name: 'Desk', auth_patterns: [{ type: 'API_KEY' }] };
    const made = await server.call('POST', '/api/v1/custom-providers', { token, body });
    const list = await server.call('GET', '/api/v1/audit_events?action=custom_provider.created', { token });
    expect(made.status).to.equal(201);
    expect(list.body.audit_events[0].actor).to.equal('operator:ada@acme.example');
    const ended = await callConsole(server, ':end', { cookie });
    expect(ended.status).to.equal(204);
    expect(ended.headers['set-cookie']).to.match(/^valetkey-console=; Path=\/; Max-Age=0/);
    expect(ended.headers['clear-site-data']).to.equal('"cache", "storage"');
    const actors = (await auditOf(server, id)).map(({ action, actor }) => `${action} ${actor}`);
    expect(actors).to.include.members([
      'operator_session.opened operator:ada@acme.example',
      'operator_session.ended operator:ada@acme.example',
    ]);
    expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(401);
  });

  it('does not exist when the console is disabled', async () => {
    const off = await startTestServer({ env: { VALETKEY_CONSOLE: 'off' } });
    for (const path of ['', ':token', ':end']) expect((await callConsole(off, path)).status).to.equal(404);
    expect((await off.call('GET', '/console', { token: null })).status).to.equal(404);
    await off.stop();
  });

  for (const path of ['', ':token', ':end']) {
    it(`rejects GET at /console/session${path} with 405`, async () => {
      const answer = await callConsole(server, path, { method: 'GET' });
      expect(answer.body).to.include({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    });
  }
});
