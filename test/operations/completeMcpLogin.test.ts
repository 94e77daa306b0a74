import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { TestBrowser } from '../support/browser.ts';
import { allowVerifyUrls, VERIFY_URL } from '../support/links.ts';
import { ADA, allow, codeOf, type LoginWorld, loginRequestOf, startLoginWorld } from '../support/mcp-login.ts';
import { logIn } from '../support/operators.ts';

describe('completeMcpLogin', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
    await allowVerifyUrls(world.server, VERIFY_URL);
  });
  after(() => world.stop());

  const begin = async () => loginRequestOf(await world.authorize(new TestBrowser()));

  describe('200', () => {
    it('returns the address at which the browser continues, with its expiry, and records the user', async () => {
      const { status, body, headers } = await world.complete(await begin(), { ...ADA, user_verify_url: VERIFY_URL });
      expect(status).to.equal(200);
      expect(body.continue_url).to.match(new RegExp(`^${world.server.origin}/oauth/login/[A-Za-z0-9_-]{43}$`));
      expect(Date.parse(body.expires_at)).to.equal(world.clock.now() + 600_000);
      expect(headers['cache-control']).to.equal('no-store');
      const { id } = await world.server.parts.environmentOf('127.0.0.1');
      const { rows } = await world.server.parts.store.read.audit.list(id, { size: 1 });
      expect(rows[0]?.action).to.equal('mcp_login.completed');
      expect(rows[0]?.details).to.deep.equal({
        client_id: world.documents.clientId,
        server_id: world.serverId,
        user: ADA,
      });
      expect(await auditOf(world.server, rows[0]?.subjectId ?? '')).to.have.lengthOf(1);
    });

    it('is the same for a repeated request with one idempotency key', async () => {
      const body = { login_request: await begin(), ...ADA };
      const send = () =>
        world.server.call('POST', '/api/v1/mcp/logins:complete', { body, headers: { 'idempotency-key': 'login-1' } });
      const first = await send();
      expect((await send()).body).to.deep.equal(first.body);
    });
  });

  describe('200 for an operator', () => {
    it('creates a grant that works until the session of the operator ends', async () => {
      const operator = await logIn(world.server);
      const browser = new TestBrowser();
      const body = { login_request: loginRequestOf(await world.authorize(browser)), ...ADA };
      const { accessToken: token, id } = operator;
      const completed = await world.server.call('POST', '/api/v1/mcp/logins:complete', { body, token });
      expect(completed.status).to.equal(200);
      const isElsewhere = (url: URL) => url.origin !== world.server.origin;
      const consent = await browser.follow(await browser.open(completed.body.continue_url), isElsewhere);
      const { body: tokens } = await world.exchange(codeOf(await allow(browser, consent)));
      expect((await world.listTools(tokens.access_token)).status).to.equal(200);
      const { body: next } = await world.refresh(tokens.refresh_token);
      expect((await world.listTools(next.access_token)).status).to.equal(200);
      await world.server.call('POST', `/api/v1/operator_sessions/${id}:end`);
      expect((await world.listTools(next.access_token)).status).to.equal(401);
      expect((await world.refresh(next.refresh_token)).body.error).to.equal('invalid_grant');
    });
  });

  describe('400', () => {
    it('names the missing fields of the user, and leaves the login open', async () => {
      const request = await begin();
      const refused = await world.complete(request, { identifier: 'ada' });
      expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(refused.body.errors[0].field).to.equal('organization_id');
      expect((await world.complete(request)).status).to.equal(200);
    });

    it('rejects a return address that is not allowed (L5), and leaves the login open', async () => {
      const request = await begin();
      const refused = await world.complete(request, { ...ADA, user_verify_url: 'https://elsewhere.example/' });
      expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(refused.body.errors[0].field).to.equal('user_verify_url');
      expect((await world.complete(request)).status).to.equal(200);
    });
  });

  describe('404', () => {
    it('for a login that is unknown, completed or expired', async () => {
      const used = await begin();
      await world.complete(used);
      const late = await begin();
      world.clock.advance(600_000);
      for (const request of ['x', 'A'.repeat(43), used, late])
        expect((await world.complete(request)).body).to.include({ status: 404, code: 'NOT_FOUND' });
      expect((await world.complete(await begin())).status, 'the control').to.equal(200);
    });
  });

  describe('403', () => {
    it('for an API client that may not write accounts', async () => {
      const token = world.server.token('tools:execute', 'accounts:read');
      const body = { login_request: await begin(), ...ADA };
      const answer = await world.server.call('POST', '/api/v1/mcp/logins:complete', { body, token });
      expect(answer.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
    });
  });
});
