import { createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { createApiClient } from '../support/api-clients.ts';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment, OTHER_CLIENT_ID, OTHER_CLIENT_SECRET } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, CLIENT_SECRET, startTestServer } from '../support/server.ts';
import { basicHeader, requestToken } from '../support/token-request.ts';

const FORM = 'application/x-www-form-urlencoded';
const GRANT = 'grant_type=client_credentials';
const ID = `client_id=${CLIENT_ID}`;
const SECRET = `client_secret=${CLIENT_SECRET}`;
const BASIC = basicHeader(CLIENT_ID, CLIENT_SECRET);

describe('issueToken', () => {
  let server: TestServer;
  const clock = testClock();

  const send = (body: string, headers: Record<string, string> = {}, query = '') =>
    server.call('POST', `/oauth/token${query}`, { token: null, body, headers: { 'content-type': FORM, ...headers } });

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
  });
  after(() => server.stop());

  describe('200', () => {
    for (const [method, body, headers] of [
      ['client_secret_post', `${GRANT}&${ID}&${SECRET}`, {}],
      ['client_secret_basic', GRANT, BASIC],
      ['client_secret_basic with the client_id beside it', `${GRANT}&${ID}`, BASIC],
      ['an empty scope, which counts as none', `${GRANT}&${ID}&${SECRET}&scope=`, {}],
      ['another case of the scheme', GRANT, { authorization: BASIC.authorization.replace('Basic', 'bAsIC') }],
      ['a charset in the media type', `${GRANT}&${ID}&${SECRET}`, { 'content-type': `${FORM};charset=UTF-8` }],
    ] as [string, string, Record<string, string>][]) {
      it(`returns a bearer token to ${method}`, async () => {
        const answer = await send(body, headers);
        expect(answer.status, answer.text).to.equal(200);
        const { access_token: token, ...rest } = answer.body;
        expect(rest).to.deep.equal({ token_type: 'Bearer', expires_in: 3600, scope: SCOPES.join(' ') });
        expect((await server.call('GET', '/api/v1/connections', { token })).status).to.equal(200);
      });
    }

    it('may not be cached, and contains no refresh token (T9)', async () => {
      const answer = await requestToken(server, { client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
      expect(answer.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' });
      expect(answer.headers['content-type']).to.equal('application/json');
      expect(answer.body).not.to.have.property('refresh_token');
    });

    it('grants the requested scopes and no others', async () => {
      const scope = 'tools:read connections:read';
      const answer = await requestToken(server, { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, scope });
      expect(answer.body.scope).to.equal(scope);
      const token = answer.body.access_token;
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
      const refused = await server.call('GET', '/api/v1/providers', { token });
      expect(refused.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      expect(refused.headers['www-authenticate']).to.equal('Bearer error="insufficient_scope", scope="providers:read"');
    });

    it('contains a token that the published keys verify, with the claims of RFC 9068', async () => {
      const { access_token: token } = (await send(GRANT, BASIC)).body;
      const { keys } = (await server.call('GET', '/.well-known/jwks.json', { token: null })).body;
      const { header } = jwt.decode(token, { complete: true }) as jwt.Jwt;
      const key = keys.find((one: { kid: string }) => one.kid === header.kid);
      const { issuer } = (await server.call('GET', '/.well-known/oauth-authorization-server', { token: null })).body;
      const claims = jwt.verify(token, createPublicKey({ key, format: 'jwk' }), {
        algorithms: ['ES256'],
        issuer,
        audience: 'http://localhost',
        clockTimestamp: clock.now() / 1000,
      }) as jwt.JwtPayload;
      expect(header).to.include({ alg: 'ES256', typ: 'at+jwt' });
      expect(claims).to.include({ client_id: CLIENT_ID, sub: CLIENT_ID, scope: SCOPES.join(' ') });
      expect((claims.exp as number) - (claims.iat as number)).to.equal(3600);
    });

    it('contains a token that expires after an hour', async () => {
      const { access_token: token } = (await send(GRANT, BASIC)).body;
      clock.advance(3_599_000);
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
      clock.advance(1_000);
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(401);
    });

    it('accepts a secret with characters that a form and a header must escape', async () => {
      const id = 'an:odd%id+&=';
      const odd = 'vks_a:b%c+d&e=f"g\\h ij/01234567';
      const other = await startTestServer({ env: { VALETKEY_CLIENT_ID: id, VALETKEY_CLIENT_SECRET: odd } });
      try {
        const post = await requestToken(other, { client_id: id, client_secret: odd });
        const basic = await requestToken(other, {}, basicHeader(id, odd));
        expect([post.status, basic.status]).to.deep.equal([200, 200]);
      } finally {
        await other.stop();
      }
    });
  });

  it('ignores an unknown parameter (RFC 6749 §3.2)', async () => {
    for (const unknown of ['resource=https%3A%2F%2Fexample.com', 'audience=x', '__proto__=x', 'constructor=x']) {
      expect((await send(`${GRANT}&${ID}&${SECRET}&${unknown}`)).status, unknown).to.equal(200);
    }
  });

  it('returns 401 for an assertion, which is not supported', async () => {
    const answer = await send(`${GRANT}&${ID}&client_assertion=a.b.c&client_assertion_type=jwt`);
    expect([answer.status, answer.body.error]).to.deep.equal([401, 'invalid_client']);
  });

  describe('400 (T3)', () => {
    const all = `${GRANT}&${ID}&${SECRET}`;
    const cases: [string, string, string, Record<string, string>?, string?][] = [
      ['an empty body', '', 'invalid_request'],
      ['no grant type', `${ID}&${SECRET}`, 'invalid_request'],
      ['an empty grant type', `grant_type=&${ID}&${SECRET}`, 'invalid_request'],
      ['two grant types', `${GRANT}&${all}`, 'invalid_request'],
      ['two client ids', `${all}&${ID}`, 'invalid_request'],
      ['two client secrets', `${all}&${SECRET}`, 'invalid_request'],
      ['a client secret and an empty one', `${all}&client_secret=`, 'invalid_request'],
      ['two scopes', `${all}&scope=admin&scope=tools:read`, 'invalid_request'],
      ['a name that is an array elsewhere', `${all}&scope[]=admin`, 'invalid_request'],
      ['another grant', `grant_type=password&${ID}&${SECRET}`, 'unsupported_grant_type'],
      ['the grant in capital letters', `grant_type=CLIENT_CREDENTIALS&${ID}&${SECRET}`, 'unsupported_grant_type'],
      ['the grant with a space', `grant_type=client_credentials+&${ID}&${SECRET}`, 'unsupported_grant_type'],
      ['both methods together', all, 'invalid_request', BASIC],
      ['both methods, the header wrong', all, 'invalid_request', basicHeader(CLIENT_ID, 'wrong')],
      ['a secret beside a bearer token', all, 'invalid_request', { authorization: 'Bearer abc' }],
      ['an assertion beside a secret', `${all}&client_assertion=a.b.c&client_assertion_type=jwt`, 'invalid_request'],
      ['another client in the form', `${GRANT}&client_id=other`, 'invalid_request', BASIC],
      ['a scope that does not exist', `${all}&scope=root`, 'invalid_scope'],
      ['scopes with two spaces', `${all}&scope=admin++tools:read`, 'invalid_scope'],
      ['scopes with a comma', `${all}&scope=admin,tools:read`, 'invalid_scope'],
      ['a scope with a quote', `${all}&scope=%22admin%22`, 'invalid_scope'],
      ['a scope with a line feed', `${all}&scope=admin%0Atools:read`, 'invalid_scope'],
      [
        'a JSON body',
        JSON.stringify({ grant_type: 'client_credentials' }),
        'invalid_request',
        { 'content-type': 'application/json' },
      ],
      ['a JSON body under the name of a form', '{"grant_type":"client_credentials"}', 'invalid_request'],
      ['no media type', all, 'invalid_request', { 'content-type': '' }],
      ['a multipart body', all, 'invalid_request', { 'content-type': 'multipart/form-data; boundary=x' }],
      ['another charset', all, 'invalid_request', { 'content-type': `${FORM}; charset=latin1` }],
      ['a compressed body', all, 'invalid_request', { 'content-encoding': 'gzip' }],
      ['an escape that is no UTF-8', `${all}&scope=%ff`, 'invalid_request'],
      ['half an escape', `${all}&scope=%4`, 'invalid_request'],
      ['the credentials in the URL', GRANT, 'invalid_request', {}, `?${ID}&${SECRET}`],
      ['the grant type in the URL', `${ID}&${SECRET}`, 'invalid_request', {}, `?${GRANT}`],
      ['the scope in the URL', all, 'invalid_request', {}, '?scope=admin'],
      ['all of it in the URL as well', all, 'invalid_request', {}, `?${all}`],
      ['an unknown parameter given twice', `${all}&resource=a&resource=b`, 'invalid_request'],
      ['a name with a NUL', `${all}&a%00b=x`, 'invalid_request'],
    ];
    for (const [what, body, error, headers, query] of cases) {
      it(`returns ${error} for ${what}`, async () => {
        const answer = await send(body, headers, query);
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.body.error).to.equal(error);
        expect(answer.body.error_description).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
        expect(answer.headers['cache-control']).to.equal('no-store');
        expect(answer.text).not.to.include(CLIENT_SECRET);
      });
    }

    it('names the invalid parameters, and never their values', async () => {
      const twice = await send(`${all}&grant_type=password`);
      expect(twice.body.error_description).to.match(/ grant_type: [a-z]/);
      const inUrl = await send(GRANT, {}, `?${ID}&${SECRET}`);
      expect(inUrl.body.error_description).to.include('client_id: unknown parameter; client_secret: unknown parameter');
      expect(inUrl.text).not.to.include(CLIENT_SECRET);
    });

    it('refuses a scope that the client may not have', async () => {
      const client = await createApiClient(server, ['tools:read']);
      const form = { client_id: client.id, client_secret: client.secret, scope: 'tools:read admin' };
      expect((await requestToken(server, form)).body.error).to.equal('invalid_scope');
    });
  });

  describe('401', () => {
    it('returns the same for an unknown client, a wrong secret, a disabled client and a client of another environment (T1)', async () => {
      const disabled = await createApiClient(server);
      await server.call('POST', `/api/v1/api_clients/${disabled.id}:disable`);
      await addSecondEnvironment(server);
      const headers = { 'x-request-id': 'same' };
      const answers = [
        await requestToken(server, { client_id: 'nobody', client_secret: CLIENT_SECRET }, headers),
        await requestToken(server, { client_id: CLIENT_ID, client_secret: 'vks_wrong' }, headers),
        await requestToken(server, { client_id: disabled.id, client_secret: disabled.secret }, headers),
        await requestToken(server, { client_id: OTHER_CLIENT_ID, client_secret: OTHER_CLIENT_SECRET }, headers),
        await requestToken(server, { client_id: CLIENT_ID }, headers),
        await requestToken(server, {}, headers),
      ];
      for (const answer of answers) {
        expect(answer.status).to.equal(401);
        expect(answer.body).to.deep.equal({
          error: 'invalid_client',
          error_description: 'Client authentication failed',
        });
        expect(answer.text).to.equal(answers[0]?.text);
        const { date: _date, ...rest } = answer.headers;
        const { date: _first, ...expected } = answers[0]?.headers ?? {};
        expect(rest).to.deep.equal(expected);
      }
    });

    for (const [what, authorization] of [
      ['a wrong secret', basicHeader(CLIENT_ID, 'wrong').authorization],
      ['base64 of no pair', 'Basic bm9jb2xvbg=='],
      ['no base64', 'Basic !!!'],
      ['nothing after the scheme', 'Basic'],
      ['another scheme', 'Digest username="x"'],
      ['a bearer token', 'Bearer abc'],
    ] as const) {
      it(`challenges a client that authenticated by header: ${what}`, async () => {
        const answer = await send(GRANT, { authorization });
        expect(answer.status, answer.text).to.equal(401);
        expect(answer.body.error).to.equal('invalid_client');
        expect(answer.headers['www-authenticate']).to.match(/^Basic /);
      });
    }

    it('serves the client of another environment at its own host', async () => {
      const fresh = await startTestServer();
      try {
        const other = await addSecondEnvironment(fresh);
        const form = { client_id: OTHER_CLIENT_ID, client_secret: OTHER_CLIENT_SECRET };
        const answer = await requestToken(fresh, form, { host: other.host });
        expect(answer.status, answer.text).to.equal(200);
        const here = await fresh.call('GET', '/api/v1/tools', { token: answer.body.access_token });
        expect(here.status, 'a token of one environment in another (T8)').to.equal(401);
      } finally {
        await fresh.stop();
      }
    });
  });

  it('405: tokens are not issued for GET (T3)', async () => {
    const answer = await server.call('GET', `/oauth/token?${GRANT}&${ID}&${SECRET}`, { token: null });
    expect(answer.status).to.equal(405);
    expect(answer.headers['allow']).to.equal('POST');
    expect(answer.text).not.to.include(CLIENT_SECRET);
  });

  it('writes no secret and no token into the log', async () => {
    const { access_token: token } = (await send(GRANT, BASIC)).body;
    const log = server.logs.join('\n');
    expect(log).to.include('issueToken');
    for (const secret of [CLIENT_SECRET, token, BASIC.authorization.slice(6)]) expect(log).not.to.include(secret);
  });
});
