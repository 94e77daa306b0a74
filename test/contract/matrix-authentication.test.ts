import { expect } from 'chai';
import type { Scope } from '../../core/tokens/scopes.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import type { JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { arrayAt, operationsOf } from '../../scripts/openapi-document.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { requestOf } from '../support/contract-requests.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import { contract } from './contract.ts';

/** The scope that an operation requires; undefined for a public operation. */
function scopeOf({ definition }: Operation): Scope | undefined {
  const [requirement] = arrayAt(definition, 'security') as JsonObject[];
  return requirement && (arrayAt(requirement, 'oauth2')[0] as Scope);
}

const SECURED = operationsOf(contract).filter(scopeOf);
const HOUR = 60 * 60 * 1000;

describe('authentication of every operation', () => {
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
  });
  after(() => server.stop());

  /** Calls each operation with these credentials and returns the rejections. */
  async function refusals(credentials: { token?: string | null; headers?: Record<string, string> }) {
    const answers = [];
    for (const operation of SECURED) {
      const { method, path, request } = requestOf(operation);
      const headers = { ...request.headers, ...credentials.headers };
      const answer = await server.call(method, path, { ...request, token: credentials.token ?? null, headers });
      answers.push({ operation, answer });
    }
    expect(answers.length).to.be.greaterThan(25);
    return answers;
  }

  async function expectUnauthenticated(
    credentials: Parameters<typeof refusals>[0],
    challenge = 'Bearer error="invalid_token"',
  ): Promise<void> {
    for (const { operation, answer } of await refusals(credentials)) {
      expect(answer.status, operation.id).to.equal(401);
      expect(answer.body.code, operation.id).to.equal('UNAUTHENTICATED');
      expect(answer.headers['www-authenticate'], operation.id).to.equal(challenge);
      expect(answer.headers['content-type'], operation.id).to.equal('application/problem+json');
      expect(answer.headers['cache-control'], operation.id).to.equal('no-store');
    }
  }

  it('accepts a valid token (control)', async () => {
    for (const { operation, answer } of await refusals({ token: await accessToken(server) })) {
      expect(answer.status, operation.id).not.to.equal(401);
    }
  });

  it('returns 401 without a token, with a bare challenge (T7)', () => expectUnauthenticated({}, 'Bearer'));

  it('returns 401 for a token that the server did not issue (T4)', async () => {
    const [header = '', claims = '', signature = ''] = (await accessToken(server)).split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
    await expectUnauthenticated({ token: 'garbage' });
    await expectUnauthenticated({ token: `${none}.${claims}.` });
    await expectUnauthenticated({
      token: `${header}.${claims}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
    });
  });

  it('returns 401 for another scheme, regardless of its credentials', async () => {
    await expectUnauthenticated({ headers: { authorization: `Basic ${await accessToken(server)}` } });
    await expectUnauthenticated({ headers: { authorization: 'Bearer' } });
  });

  it('returns 401 for a token in the query, where logs would keep it (T7)', async () => {
    for (const operation of SECURED) {
      const { method, path, request } = requestOf(operation, { query: { access_token: await accessToken(server) } });
      expect((await server.call(method, path, { ...request, token: null })).status, operation.id).to.equal(401);
    }
  });

  it('returns 401 for an expired token (T5)', async () => {
    const token = await accessToken(server);
    clock.advance(HOUR);
    await expectUnauthenticated({ token });
  });

  it('returns 401 for a token with another audience or issuer (T8)', async () => {
    await expectUnauthenticated({ token: await accessToken(server, { audience: 'http://localhost/mcp' }) });
    await expectUnauthenticated({ token: await accessToken(server, { issuer: 'https://elsewhere.test' }) });
  });

  it('returns 401 for a token of another environment (T8)', async () => {
    const other = await addSecondEnvironment(server);
    await expectUnauthenticated({ token: other.token });
    // This holds even for a token with this issuer and audience, because the token also contains the environment.
    await expectUnauthenticated({ token: await accessToken(server, { environmentId: other.environment.id }) });
  });

  it('returns 401 for an unexpired token of a disabled client (T5)', async () => {
    const body = { name: 'To be disabled', scopes: [...SCOPES] };
    const created = await server.call('POST', '/api/v1/api_clients', { body });
    const clientId: string = created.body.api_client.id;
    const token = await accessToken(server, { clientId });
    expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
    await server.call('POST', `/api/v1/api_clients/${clientId}:disable`);
    await expectUnauthenticated({ token });
  });

  it('returns 401 for a client that does not exist, and for a generation that is not the current one', async () => {
    await expectUnauthenticated({ token: await accessToken(server, { clientId: 'nobody' }) });
    await expectUnauthenticated({ token: await accessToken(server, { clientId: CLIENT_ID, generation: 2 }) });
  });
});

describe('authorization of every operation (T10)', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  for (const operation of SECURED) {
    const wanted = scopeOf(operation);

    it(`${operation.id} succeeds with ${wanted} and with no other scope`, async () => {
      const passing: string[] = [];
      for (const scope of SCOPES) {
        const { method, path, request } = requestOf(operation);
        const answer = await server.call(method, path, { ...request, token: server.token(scope) });
        expect(answer.status, scope).to.be.below(500).and.not.equal(401);
        if (answer.status !== 403) {
          passing.push(scope);
          continue;
        }
        expect(answer.body.code).to.equal('INSUFFICIENT_SCOPE');
        const challenge = `Bearer error="insufficient_scope", scope="${wanted}"`;
        expect(answer.headers['www-authenticate']).to.equal(challenge);
      }
      expect(passing).to.deep.equal([wanted]);
    });

    it(`${operation.id} is refused with every scope except ${wanted}, and without scopes`, async () => {
      const { method, path, request } = requestOf(operation);
      for (const scopes of [SCOPES.filter((scope) => scope !== wanted), []]) {
        const answer = await server.call(method, path, { ...request, token: server.token(...scopes) });
        expect(answer.status).to.equal(403);
      }
    });
  }
});
