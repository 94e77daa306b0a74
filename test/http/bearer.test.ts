import { expect } from 'chai';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, CLIENT_SECRET, startTestServer } from '../support/server.ts';
import { basicHeader } from '../support/token-request.ts';
import { accessToken } from '../support/tokens.ts';

const PATH = '/api/v1/tools?page_size=1';

/** The places of an access token in a request, and the errors for other places (T7, RFC 6750 §3). */
describe('the access token of a request', () => {
  let server: TestServer;
  let token: string;
  const clock = testClock();

  const get = (headers: Record<string, string>, path = PATH) => server.call('GET', path, { token: null, headers });

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
    token = server.token('tools:read');
  });
  after(() => server.stop());

  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   ']) {
    it(`is read from the header Authorization: ${JSON.stringify(scheme)}`, async () => {
      expect((await get({ authorization: `${scheme}${token}` })).status).to.equal(200);
    });
  }

  it('is absent: 401 with a bare challenge', async () => {
    const answer = await get({});
    expect(answer.body).to.include({ status: 401, code: 'UNAUTHENTICATED' });
    expect(answer.headers['www-authenticate']).to.equal('Bearer');
  });

  it('is not read from a cookie, or from another header', async () => {
    const elsewhere: Record<string, string>[] = [
      { cookie: `access_token=${token}` },
      { 'x-access-token': token },
      { 'proxy-authorization': `Bearer ${token}` },
    ];
    for (const headers of elsewhere) expect((await get(headers)).status).to.equal(401);
  });

  it('is not read from the URL, also when the header has one', async () => {
    const path = `${PATH}&access_token=${token}`;
    expect((await get({}, path)).status).to.equal(401);
    const both = await get({ authorization: `Bearer ${token}` }, path);
    expect(both.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    expect(server.logs.join('\n')).not.to.include(token);
  });

  const cases: [what: string, header: (token: string) => string][] = [
    ['nothing', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['another scheme', (good) => `Token ${good}`],
    ['Basic with a client', () => basicHeader(CLIENT_ID, CLIENT_SECRET).authorization],
    ['two tokens', (good) => `Bearer ${good}, Bearer ${good}`],
    ['a token and more', (good) => `Bearer ${good} more`],
    ['no token of ours', () => 'Bearer abc'],
    ['a token in quotes', (good) => `Bearer "${good}"`],
    ['a token with padding', (good) => `Bearer ${good}=`],
    ['a token with another signature', (good) => `Bearer ${good.slice(0, -4)}AAAA`],
    ['a token without a signature', (good) => `Bearer ${good.slice(0, good.lastIndexOf('.') + 1)}`],
    ['an unsigned token', (good) => `Bearer ${unsigned(good)}`],
    ['a token of 5,000 characters', () => `Bearer ${'a'.repeat(5000)}`],
  ];
  for (const [what, header] of cases) {
    it(`returns 401 with invalid_token for ${what}`, async () => {
      const answer = await get({ authorization: header(token) });
      expect(answer.body).to.include({ status: 401, code: 'UNAUTHENTICATED' });
      expect(answer.headers['www-authenticate']).to.equal('Bearer error="invalid_token"');
    });
  }

  for (const [what, facts] of [
    ['another environment', { environmentId: 'env_other' }],
    ['another audience', { audience: 'https://other.example.com' }],
    ['another issuer', { issuer: 'https://other.example.com' }],
    ['a client that does not exist', { clientId: 'nobody' }],
    ['an earlier generation of the client', { generation: 0 }],
    ['a later generation of the client', { generation: 2 }],
  ]) {
    it(`returns 401 for a token that the server has signed for ${what} (T8)`, async () => {
      const foreign = await accessToken(server, facts as never);
      expect((await get({ authorization: `Bearer ${foreign}` })).status).to.equal(401);
    });
  }

  it('returns 401 for a token of one environment at the host of another (T8)', async () => {
    const other = await addSecondEnvironment(server);
    expect((await other.call('GET', PATH, { token })).status).to.equal(401);
    expect((await other.call('GET', PATH)).status).to.equal(200);
    expect((await server.call('GET', PATH, { token: other.token })).status).to.equal(401);
  });

  it('returns 403 with the name of the scope for a token without it', async () => {
    const answer = await server.call('GET', '/api/v1/connections', { token });
    expect(answer.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
    expect(answer.headers['www-authenticate']).to.equal('Bearer error="insufficient_scope", scope="connections:read"');
  });

  it('is accepted for each client with the scope, and is not cached beyond its hour (T5)', async () => {
    const short = server.token('tools:read');
    for (let times = 0; times < 3; times++)
      expect((await get({ authorization: `Bearer ${short}` })).status).to.equal(200);
    clock.advance(3_600_000);
    expect((await get({ authorization: `Bearer ${short}` })).status).to.equal(401);
  });
});

/** Returns the same claims under `alg: none` (RFC 8725 §2.1). */
function unsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
