import { expect } from 'chai';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const AS = 'https://as.acme.example';
const ADDRESSES = { authorize_uri: `${AS}/authorize`, token_uri: `${AS}/token` };

describe('checkConnection', () => {
  let acme: Upstream;
  let server: TestServer;
  let metadata: Record<string, unknown>;
  let provider: string;

  before(async () => {
    acme = await startUpstream(({ target }, res) => {
      const isMetadata = target.startsWith('/.well-known/');
      if (isMetadata) json(res, 200, metadata);
      else json(res, target === '/token' ? 400 : 200, { error: 'invalid_request' });
    });
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(AS) } });
    const pattern = { type: 'OAUTH', oauth_config: { issuer: AS, ...ADDRESSES } };
    provider = (await createProvider(server, { auth_patterns: [pattern] })).identifier as string;
  });
  beforeEach(() => {
    metadata = {
      issuer: AS,
      authorization_endpoint: ADDRESSES.authorize_uri,
      token_endpoint: ADDRESSES.token_uri,
      response_types_supported: ['code'],
    };
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  const check = async (id: unknown) => server.call('GET', `/api/v1/connections/${id}:check`);
  const verdicts = (body: { checks: { subject: string; verdict: string }[] }) =>
    Object.fromEntries(body.checks.map(({ subject, verdict }) => [subject, verdict]));

  it('200 with a verdict for each value; no request contains the client', async () => {
    const { id } = await createConnection(server, {
      connector: provider,
      client_id: 'client-77',
      client_secret: 'hush-77',
    });
    const first = acme.requests.length;
    const { status, body, text } = await check(id);
    expect(status, text).to.equal(200);
    expect(body.connection_id).to.equal(id);
    expect(verdicts(body)).to.include({
      'connection client_id': 'OK',
      'connection client_secret': 'OK',
      issuer: 'OK',
      token_uri: 'OK',
    });
    const sent = JSON.stringify(acme.requests.slice(first));
    expect(acme.requests.length).to.be.greaterThan(first);
    expect(sent).not.to.match(/client-77|hush-77/);
    expect(text).not.to.include('hush-77');
  });

  it('200 with DIFFERS for values that the provider publishes otherwise, on one line of limited length', async () => {
    metadata['token_endpoint'] = `${AS}/elsewhere`;
    metadata['code_challenge_methods_supported'] = [`a\nOK b‮${'x'.repeat(10_000)}`];
    const { id } = await createConnection(server, { connector: provider });
    const { body } = await check(id);
    expect(verdicts(body)).to.include({ 'connection client_id': 'DIFFERS', token_uri: 'DIFFERS' });
    for (const { expected, found } of body.checks as { expected: string; found: string }[]) {
      expect(`${expected}${found}`).not.to.match(/[\n\u202e]/);
      expect(found.length).to.be.at.most(501);
    }
  });

  it('200 with UNKNOWN when the provider is unreachable', async () => {
    const pattern = {
      type: 'OAUTH',
      oauth_config: { authorize_uri: 'https://nowhere.example/a', token_uri: 'https://nowhere.example/t' },
    };
    const { identifier } = await createProvider(server, { auth_patterns: [pattern] });
    const { id } = await createConnection(server, { connector: identifier });
    const { status, body } = await check(id);
    expect(status).to.equal(200);
    expect(verdicts(body)['token_uri']).to.be.oneOf(['UNKNOWN', 'DIFFERS']);
  });

  it('200 without requests for a connection without OAuth', async () => {
    const { identifier } = await createProvider(server, { auth_patterns: [{ type: 'API_KEY' }] });
    const { id } = await createConnection(server, { connector: identifier, type: 'API_KEY' });
    const before = acme.requests.length;
    expect(Object.values(verdicts((await check(id)).body))).to.deep.equal(['OK', 'OK', 'OK']);
    expect(acme.requests.length).to.equal(before);
  });

  it('404 for a connection that does not exist, or of another environment', async () => {
    expect((await check('conn_01k6p3w2m5a8c0e4g6j9n1r3tv')).body).to.include({ status: 404, code: 'NOT_FOUND' });
    const { id } = await createConnection(server, { connector: provider });
    const other = await addSecondEnvironment(server);
    expect((await other.call('GET', `/api/v1/connections/${id}:check`)).body).to.include({ status: 404 });
  });

  it('403 for a client that may only read connections', async () => {
    const { id } = await createConnection(server, { connector: provider });
    const token = server.token('connections:read');
    expect((await server.call('GET', `/api/v1/connections/${id}:check`, { token })).status).to.equal(403);
  });
});
