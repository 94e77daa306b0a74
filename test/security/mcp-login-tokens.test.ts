import { expect } from 'chai';
import { MCP_LOGIN } from '../../core/budgets.ts';
import type { Transaction } from '../../db/store.ts';
import { altered } from '../support/altered.ts';
import { auditOf } from '../support/audit.ts';
import { TestBrowser } from '../support/browser.ts';
import {
  allow,
  challengeOf,
  codeOf,
  type LoginWorld,
  loginRequestOf,
  REDIRECT_URI,
  startLoginWorld,
  type Tokens,
  VERIFIER,
} from '../support/mcp-login.ts';
import { createConnection } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { basicHeader, requestToken } from '../support/token-request.ts';

const GRACE = MCP_LOGIN.graceMs;

/** Attacks on codes, access tokens and refresh tokens of MCP clients. */
describe('attacks on tokens of MCP clients', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  /** Checks that a rejected exchange has used up the code: a correct exchange is then rejected as well. */
  async function expectSpent(code: string, form: Record<string, string | null>, error = 'invalid_grant') {
    const answer = await world.exchange(code, form);
    expect([answer.status, answer.body.error], answer.text).to.deep.equal([400, error]);
    expect((await world.exchange(code)).body.error, 'the code is used up').to.equal('invalid_grant');
  }

  const works = async ({ access_token }: Pick<Tokens, 'access_token'>) =>
    (await world.listTools(access_token)).status === 200;

  // Skips the creation of the grant. Two servers may record it and the end in the same millisecond, in any order.
  const endOf = async (id: string) =>
    (await auditOf(world.server, id)).find(({ action }) => action !== 'mcp_grant.created');

  describe('A11: codes', () => {
    it('are exchanged once, by their client, with their verifier (control)', async () => {
      expect((await world.exchange(await world.login())).status).to.equal(200);
    });

    it('are refused without a verifier, and with a wrong one', async () => {
      await expectSpent(await world.login(), { code_verifier: null });
      await expectSpent(await world.login(), { code_verifier: 'x'.repeat(43) });
      await expectSpent(await world.login(), { code_verifier: 'short' });
    });

    it('are refused with the challenge in the place of the verifier, as in a downgrade to plain', async () => {
      const plain = 'p'.repeat(43);
      await expectSpent(await world.login({ code_challenge: plain }), { code_verifier: plain });
      const right = await world.login({ code_challenge: challengeOf(plain) });
      expect((await world.exchange(right, { code_verifier: plain })).status, 'the control').to.equal(200);
    });

    it('are refused to another client, also to one with a secret', async () => {
      const other = (await world.register()).body.client_id;
      await expectSpent(await world.login(), { client_id: other });
      const secret = (await world.register({ token_endpoint_auth_method: 'client_secret_post' })).body;
      await expectSpent(await world.login(), { client_id: secret.client_id, client_secret: secret.client_secret });
    });

    it('are refused with another redirect URI and for another resource', async () => {
      const { id } = await createConnection(world.server, { connector: 'slack' });
      await expectSpent(await world.login(), { redirect_uri: 'https://client.example/other' });
      await expectSpent(await world.login(), { resource: `${world.server.origin}/mcp/${id}` }, 'invalid_target');
    });

    it('are refused by another environment, and stay valid in their own', async () => {
      const other = await addSecondEnvironment(world.server);
      const code = await world.login();
      const headers = { host: other.host };
      const form = { grant_type: 'authorization_code', code, code_verifier: 'x'.repeat(43) };
      expect((await world.token(form, headers)).body.error).to.equal('invalid_grant');
      expect((await world.exchange(code)).status).to.equal(200);
    });

    it('expire after a minute', async () => {
      const code = await world.login();
      world.clock.advance(60_000);
      expect((await world.exchange(code)).body.error).to.equal('invalid_grant');
    });

    it('revoke the grant of their first use when they are used again, by any client', async () => {
      const code = await world.login({}, { user_id: 'user_replay', identifier: 'replay' });
      const tokens = (await world.exchange(code)).body;
      expect(await works(tokens)).to.equal(true);
      const [grant] = await world.grants('?user_id=user_replay');
      expect((await world.exchange(code, { code_verifier: 'x'.repeat(43) })).body.error).to.equal('invalid_grant');
      expect(await works(tokens)).to.equal(false);
      expect((await world.refresh(tokens.refresh_token)).body.error).to.equal('invalid_grant');
      const end = await endOf(grant?.id as string);
      expect([end?.action, end?.details]).to.deep.equal(['mcp_grant.revoked', { reason: 'CODE_REUSED' }]);
    });

    it('give one grant at most to 16 concurrent exchanges', async () => {
      const user = { user_id: 'user_race', identifier: 'race' };
      const code = await world.login({}, user);
      const answers = await Promise.all(Array.from({ length: 16 }, () => world.exchange(code)));
      expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(1);
      expect(await world.grants('?user_id=user_race'), 'reuse has ended it').to.deep.equal([]);
    });

    it('cannot be exchanged once their server is deleted', async () => {
      const { server } = world;
      const { id } = await createConnection(server, { connector: 'slack' });
      const resource = `${server.origin}/mcp/${id}`;
      const code = await world.login({ resource });
      expect((await server.call('DELETE', `/api/v1/connections/${id}`)).status).to.equal(200);
      expect((await world.exchange(code, { resource })).body.error).to.equal('invalid_target');
    });
  });

  describe('A12: refresh tokens', () => {
    it('are replaced: the previous one returns the current one, and no new one is created', async () => {
      const first = await world.tokens({}, { user_id: 'user_lost', identifier: 'lost' });
      const second = (await world.refresh(first.refresh_token)).body;
      const again = (await world.refresh(first.refresh_token)).body;
      expect(await works(again)).to.equal(true);
      const third = (await world.refresh(second.refresh_token)).body;
      const [grant] = await world.grants('?user_id=user_lost');
      expect((await world.refresh(again.refresh_token)).status, 'both are the same generation').to.equal(200);
      expect(await world.grants('?user_id=user_lost')).to.have.lengthOf(1);
      expect(await works(third)).to.equal(true);
      expect(grant?.id).to.be.a('string');
    });

    it('that were replaced before the grace period revoke the grant, for the thief and for the client', async () => {
      const first = await world.tokens({}, { user_id: 'user_theft', identifier: 'theft' });
      const [grant] = await world.grants('?user_id=user_theft');
      const second = (await world.refresh(first.refresh_token)).body;
      const third = (await world.refresh(second.refresh_token)).body;
      world.clock.advance(GRACE - 1);
      expect((await world.refresh(first.refresh_token)).status, 'the control: within the grace').to.equal(200);
      world.clock.advance(1);
      expect((await world.refresh(first.refresh_token)).body.error).to.equal('invalid_grant');
      expect(await works(third)).to.equal(false);
      expect((await world.refresh(third.refresh_token)).body.error).to.equal('invalid_grant');
      const end = await endOf(grant?.id as string);
      expect([end?.action, end?.details]).to.deep.equal(['mcp_grant.revoked', { reason: 'REFRESH_TOKEN_REUSED' }]);
    });

    it('that were replaced are valid for an hour, while the current one has not been used', async () => {
      const first = await world.tokens();
      await world.refresh(first.refresh_token);
      world.clock.advance(MCP_LOGIN.unusedGraceMs - 1);
      expect((await world.refresh(first.refresh_token)).status, 'the control').to.equal(200);
      world.clock.advance(1);
      expect((await world.refresh(first.refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('of more than eight generations ago revoke the grant, also within the grace period', async () => {
      const first = await world.tokens();
      let { refresh_token } = first;
      for (let count = 0; count < 8; count++) ({ refresh_token } = (await world.refresh(refresh_token)).body);
      expect((await world.refresh(first.refresh_token)).status, 'the control: eight').to.equal(200);
      ({ refresh_token } = (await world.refresh(refresh_token)).body);
      expect((await world.refresh(first.refresh_token)).body.error).to.equal('invalid_grant');
      expect((await world.refresh(refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('can be used 32 times concurrently: one new generation, and 32 valid responses', async () => {
      const user = { user_id: 'user_storm', identifier: 'storm' };
      const first = await world.tokens({}, user);
      const answers = await Promise.all(Array.from({ length: 32 }, () => world.refresh(first.refresh_token)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(32).fill(200));
      const worked = await Promise.all(answers.map(({ body }) => works(body)));
      expect(worked).to.deep.equal(Array(32).fill(true));
      const [shown] = await world.grants('?user_id=user_storm');
      const { id } = await world.server.parts.environmentOf('127.0.0.1');
      const row = await world.server.parts.store.read.oauthGrants.get(id, shown?.id as string);
      expect(row?.generation).to.equal(2);
      const last = answers.at(-1)?.body;
      expect((await world.refresh(last.refresh_token)).status, 'each of them can go on').to.equal(200);
    });

    it('are refused to another client, for another resource, in another environment, and when altered', async () => {
      const { refresh_token } = await world.tokens();
      const { id } = await createConnection(world.server, { connector: 'slack' });
      const other = (await world.register()).body.client_id;
      const second = await addOther();
      const resource = `${world.server.origin}/mcp/${id}`;
      expect((await world.refresh(refresh_token, { client_id: other })).body.error).to.equal('invalid_grant');
      expect((await world.refresh(refresh_token, { resource })).body.error).to.equal('invalid_target');
      const form = { grant_type: 'refresh_token', refresh_token };
      expect((await world.token(form, { host: second })).body.error).to.equal('invalid_grant');
      expect((await world.refresh(altered(refresh_token))).body.error).to.equal('invalid_grant');
      expect((await world.refresh(refresh_token)).status, 'the control').to.equal(200);
    });

    it('grant no more scopes than the original grant', async () => {
      const { refresh_token } = await world.tokens({ scope: 'tools:read' });
      const more = await world.refresh(refresh_token, { scope: 'tools:read tools:call' });
      expect(more.body.error).to.equal('invalid_scope');
      const same = await world.refresh(refresh_token, { scope: 'tools:read offline_access' });
      expect(same.body.scope).to.equal('tools:read');
    });

    it('end after 30 days without use, and after a year', async () => {
      const idle = await world.tokens();
      world.clock.advance(MCP_LOGIN.grantIdleMs);
      expect((await world.refresh(idle.refresh_token)).body.error).to.equal('invalid_grant');
      let { refresh_token } = await world.tokens();
      for (let spent = 0; spent < MCP_LOGIN.grantMs; spent += MCP_LOGIN.grantIdleMs / 2) {
        const answer = await world.refresh(refresh_token);
        if (answer.status !== 200) break;
        ({ refresh_token } = answer.body);
        world.clock.advance(MCP_LOGIN.grantIdleMs / 2);
      }
      expect((await world.refresh(refresh_token)).body.error).to.equal('invalid_grant');
    });

    it('are not given to a client that does not use them, whose grant ends with its access token', async () => {
      world.documents.document = { ...world.documents.document, grant_types: ['authorization_code'] };
      world.clock.advance(MCP_LOGIN.documentMostMs);
      const tokens = await world.tokens({}, { user_id: 'user_short', identifier: 'short' });
      expect(tokens).to.not.have.property('refresh_token');
      world.clock.advance(MCP_LOGIN.accessTokenMs);
      expect(await works(tokens)).to.equal(false);
      const asked = await world.tokens({ scope: 'tools:call offline_access' });
      expect(asked, 'offline_access asks for one').to.have.property('refresh_token');
      world.documents.document = { ...world.documents.document, grant_types: ['authorization_code', 'refresh_token'] };
      world.clock.advance(MCP_LOGIN.documentMostMs);
    });
  });

  it('A16: all tokens of a login end with the API client that identified the user', async () => {
    const { server } = world;
    const created = await server.call('POST', '/api/v1/api_clients', {
      body: { name: 'Application', scopes: ['accounts:write'] },
    });
    const { id } = created.body.api_client;
    const form = { client_id: id, client_secret: created.body.client_secret };
    const { access_token: token } = (await requestToken(server, form)).body;
    const browser = new TestBrowser();
    const login_request = loginRequestOf(await world.authorize(browser));
    const body = { login_request, user_id: 'user_vouched', identifier: 'vouched' };
    const completed = await server.call('POST', '/api/v1/mcp/logins:complete', { body, token });
    const consent = await browser.follow(await browser.open(completed.body.continue_url));
    const tokens = (await world.exchange(codeOf(await allow(browser, consent)))).body;
    const waiting = await world.authorize(browser);
    const next = { ...body, login_request: loginRequestOf(waiting) };
    const late = await server.call('POST', '/api/v1/mcp/logins:complete', { body: next, token });
    const led = await browser.follow(
      await browser.open(late.body.continue_url),
      ({ origin }) => origin !== server.origin,
    );
    expect(await works(tokens), 'the control').to.equal(true);
    expect((await server.call('POST', `/api/v1/api_clients/${id}:disable`)).status).to.equal(200);
    expect(await works(tokens)).to.equal(false);
    expect((await world.refresh(tokens.refresh_token)).body.error).to.equal('invalid_grant');
    expect((await world.exchange(codeOf(led))).body.error).to.equal('invalid_grant');
  });

  describe('A13: tokens used as another kind of token', () => {
    it('are refused: a refresh token, a code and an access token of the API at an MCP server', async () => {
      const tokens = await world.tokens();
      expect(await works(tokens), 'the control').to.equal(true);
      for (const token of [tokens.refresh_token, await world.login(), world.server.token('tools:execute', 'admin')])
        expect((await world.listTools(token)).status).to.equal(401);
      expect((await world.refresh(tokens.access_token)).body.error).to.equal('invalid_grant');
    });

    it('are refused: an access token of an MCP client at the API and for raw calls', async () => {
      const { access_token: token } = await world.tokens();
      for (const path of ['/api/v1/connected_accounts', '/api/v1/environment', '/api/v1/proxy/user'])
        expect((await world.server.call('GET', path, { token })).status, path).to.equal(401);
    });

    it('do not reveal the user to the client', async () => {
      const { access_token, refresh_token } = await world.tokens();
      for (const token of [access_token, refresh_token]) {
        const text = Buffer.from(token.slice(4), 'base64url').toString('latin1');
        expect(text).to.not.match(/ada|acme|grt_/);
      }
    });

    it('have the requested scopes, and no more after the grant was reduced', async () => {
      const wide = await world.tokens();
      const narrow = (await world.refresh(wide.refresh_token, { scope: 'tools:read' })).body;
      expect(narrow.scope).to.equal('tools:read');
      expect(await works(narrow)).to.equal(true);
    });
  });

  describe('A14: clients that do not authenticate', () => {
    it('are refused without a secret, with a wrong and with a duplicate one, and a public client with any', async () => {
      const fields = { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'client_secret_basic' };
      const { client_id, client_secret } = (await world.register(fields)).body;
      const code = await world.login({ client_id });
      const form = { client_id };
      const statuses = [];
      for (const [more, headers] of [
        [{}, {}],
        [{ client_secret: 'vks_wrong' }, {}],
        [{}, basicHeader(client_id, 'vks_wrong')],
      ] as const) {
        const body = { grant_type: 'authorization_code', code, code_verifier: 'x'.repeat(43), ...form, ...more };
        statuses.push((await world.token(body, headers)).status);
      }
      expect(statuses).to.deep.equal([401, 401, 401]);
      const both = { grant_type: 'refresh_token', refresh_token: 'x', ...form, client_secret };
      expect((await world.token(both, basicHeader(client_id, client_secret))).body.error).to.equal('invalid_request');
      const someone = basicHeader(client_id, client_secret);
      const posing = await world.token({ grant_type: 'refresh_token', refresh_token: 'x' }, someone);
      expect(posing.body.error, 'another client_id in the form').to.equal('invalid_request');
      const given = await world.exchange(await world.login(), { client_secret: 'any' });
      expect(given.body.error).to.equal('invalid_client');
      const right = await world.exchange(code, form).then(() =>
        world.server.call('POST', '/oauth/token', {
          token: null,
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code,
            code_verifier: VERIFIER,
          }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...someone },
        }),
      );
      expect(right.status, `the control: ${right.text}`).to.equal(200);
    });

    for (const token_endpoint_auth_method of ['client_secret_basic', 'client_secret_post']) {
      it(`can send the secret of ${token_endpoint_auth_method} in the header and in the form`, async () => {
        const fields = { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method };
        const { client_id, client_secret } = (await world.register(fields)).body;
        const exchangeWith = async (secret: string, place: 'header' | 'form') => {
          const code = await world.login({ client_id });
          if (place === 'form') return world.exchange(code, { client_id, client_secret: secret });
          const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, client_id: null };
          return world.token(form, basicHeader(client_id, secret));
        };
        for (const place of ['header', 'form'] as const) {
          expect((await exchangeWith('vks_wrong', place)).status, `${place}, wrong`).to.equal(401);
          expect((await exchangeWith(client_secret, place)).status, place).to.equal(200);
        }
      });
    }

    it('are refused with an assertion, and a code is not used up by them', async () => {
      const code = await world.login();
      const form = {
        client_assertion: 'x',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      };
      expect((await world.exchange(code, form)).body.error).to.equal('invalid_client');
      expect((await world.exchange(code)).status).to.equal(200);
    });
  });

  it('A12: many codes and refresh tokens that were never issued begin no transaction', async () => {
    const { store } = world.server.parts;
    const write = store.write;
    let writes = 0;
    // Only transactions of the token endpoint are counted: jobs of the server write in the meantime.
    const counting: ProxyHandler<Transaction> = {
      get(tx, name) {
        if (name === 'oauthGrants' || name === 'oauthLogins') writes += 1;
        return Reflect.get(tx, name);
      },
    };
    Object.assign(store, {
      write: (unit: (tx: Transaction) => Promise<unknown>) => write.call(store, (tx) => unit(new Proxy(tx, counting))),
    });
    try {
      for (const token of ['vkr_x', 'x', `vkr_${'A'.repeat(100)}`])
        expect((await world.refresh(token)).body.error).to.equal('invalid_grant');
      for (const code of ['x', 'A'.repeat(43)])
        expect((await world.exchange(code)).body.error).to.equal('invalid_grant');
      expect(writes).to.equal(0);
      await world.tokens();
      expect(writes, 'the control').to.be.greaterThan(0);
    } finally {
      Object.assign(store, { write });
    }
  });

  it('A15: users have a limited number of grants at a server: the least recently used one ends', async () => {
    const user = { user_id: 'user_many', identifier: 'many' };
    const first = await world.tokens({}, user);
    const { store, newId } = world.server.parts;
    const { id } = await world.server.parts.environmentOf('127.0.0.1');
    const [shown] = await world.grants('?user_id=user_many');
    const row = await store.read.oauthGrants.get(id, shown?.id as string);
    if (!row) throw new Error('no grant');
    world.clock.advance(1);
    const usedAt = world.clock.now();
    await store.write(async (tx) => {
      for (let count = 1; count < MCP_LOGIN.grantsOfUser; count++)
        await tx.oauthGrants.insert(id, { ...row, id: newId('grt'), usedAt });
    });
    expect(await works(first), 'the control').to.equal(true);
    await world.tokens({}, user);
    expect(await works(first)).to.equal(false);
    const list = await world.server.call('GET', '/api/v1/mcp/grants?user_id=user_many&page_size=1');
    expect(list.body.total_size).to.equal(MCP_LOGIN.grantsOfUser);
  });

  let others = 0;
  async function addOther(): Promise<string> {
    others += 1;
    const { store, now, newId } = world.server.parts;
    const { addEnvironment } = await import('../../core/keys/first-start.ts');
    const host = `other-${others}.example.test`;
    await addEnvironment(store, { now, newId }, 'DEVELOPMENT', `https://${host}`);
    return host;
  }
});
