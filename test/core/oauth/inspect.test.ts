import { expect } from 'chai';
import type { AuthPattern, OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import type { Check } from '../../../core/oauth/check.ts';
import { inspectProvider } from '../../../core/oauth/inspect.ts';
import { AS, type ScriptableAs, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';

const METADATA = {
  issuer: AS,
  authorization_endpoint: `${AS}/authorize`,
  token_endpoint: `${AS}/token`,
  revocation_endpoint: `${AS}/revoke`,
  userinfo_endpoint: `${AS}/me`,
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  scopes_supported: ['read', 'write'],
};
const CONFIG: OAuthConfig = {
  authorize_uri: `${AS}/authorize`,
  token_uri: `${AS}/token`,
  revocation_uri: `${AS}/revoke`,
  user_info_uri: `${AS}/me`,
  pkce: 'required',
  client_auth_method: 'client_secret_basic',
  refresh: { kind: 'rotating' },
  available_scopes: [{ scope: 'read', display_name: 'Read' }],
};

describe('inspecting a provider', () => {
  let server: ScriptableAs;

  const start = async (metadata: object | null = METADATA) => {
    const page = () => ({ status: 405 });
    server = await startScriptableAs({
      routes: {
        'GET /authorize': () => ({ status: 400, body: 'no client' }),
        'GET /revoke': page,
        'GET /me': () => ({ status: 401 }),
        ...(metadata && { 'GET /.well-known/oauth-authorization-server': () => ({ body: metadata }) }),
      },
    });
  };
  const inspect = (config: OAuthConfig = CONFIG, more: Partial<AuthPattern> & { issuer?: string } = {}) => {
    const { issuer, ...rest } = more;
    const pattern: AuthPattern = { type: 'OAUTH', oauth_config: config, ...rest };
    return inspectProvider({ pattern, issuer, fetchFor: server.fetchFor, now: () => 0 });
  };
  const differing = (checks: Check[]) => checks.filter(({ verdict }) => verdict === 'differs').map(({ what }) => what);

  afterEach(closeAll);

  it('reports nothing for a connector that agrees with its provider', async () => {
    await start();
    const checks = await inspect();
    expect(checks.filter(({ verdict }) => verdict !== 'ok')).to.deep.equal([]);
    expect(new Set(checks.map(({ what }) => what))).to.deep.equal(
      new Set([
        'authorize_uri',
        'token_uri',
        'revocation_uri',
        'user_info_uri',
        'issuer',
        'pkce',
        'client_auth_method',
        'grant type',
        'available_scopes',
      ]),
    );
  });

  it('sends no credential and no client id', async () => {
    await start();
    await inspect();
    expect(server.requests.length).to.be.greaterThan(4);
    for (const { headers, body, query } of server.requests) {
      expect([headers.authorization, headers.cookie, body, query.size]).to.deep.equal([undefined, undefined, '', 0]);
    }
  });

  const differences: [what: string, config: Partial<OAuthConfig>, metadata: object][] = [
    ['authorize_uri', {}, { authorization_endpoint: `${AS}/v2/authorize` }],
    ['token_uri', {}, { token_endpoint: `${AS}/v2/token` }],
    ['revocation_uri', {}, { revocation_endpoint: `${AS}/v2/revoke` }],
    ['revocation_uri', { revocation_uri: undefined, revocation: { supported: false } }, {}],
    ['user_info_uri', {}, { userinfo_endpoint: `${AS}/v2/me` }],
    ['pkce', {}, { code_challenge_methods_supported: ['plain'] }],
    ['pkce', { pkce: 'none' }, {}],
    ['client_auth_method', { client_auth_method: 'client_secret_post' }, {}],
    ['grant type', {}, { grant_types_supported: ['authorization_code'] }],
    [
      'authorization.pushed_uri',
      {},
      { require_pushed_authorization_requests: true, pushed_authorization_request_endpoint: `${AS}/par` },
    ],
  ];
  for (const [what, config, metadata] of differences) {
    it(`reports ${what} when ${JSON.stringify(config)} meets ${JSON.stringify(metadata)}`, async () => {
      await start({ ...METADATA, ...metadata });
      expect(differing(await inspect({ ...CONFIG, ...config }))).to.deep.equal([what]);
    });
  }

  it('compares a SMART on FHIR backend service with the client credentials grant, not with grants of users', async () => {
    await start({ ...METADATA, grant_types_supported: ['client_credentials'] });
    const config = { ...CONFIG, available_scopes: [{ scope: 'system/*.read', display_name: 'Read' }] };
    const checks = await inspect(config, { type: 'SMART_FHIR' });
    const grants = checks.filter(({ what }) => what === 'grant type').map(({ expected }) => expected);
    expect(grants).to.include('client_credentials').and.not.include('authorization_code');
  });

  it('reports the expected and the found value', async () => {
    await start({ ...METADATA, token_endpoint: `${AS}/v2/token` });
    const check = (await inspect()).find(({ verdict }) => verdict === 'differs');
    expect(check).to.include({ expected: `${AS}/token`, found: `${AS}/v2/token` });
  });

  it('rejects false metadata, and reports it if the issuer was configured', async () => {
    for (const lie of [{ issuer: 'https://evil.example' }, { token_endpoint: 'http://as.example/token' }]) {
      await start({ ...METADATA, pkce: 'none', ...lie });
      expect(differing(await inspect({ ...CONFIG, issuer: AS }))).to.deep.equal(['issuer']);
      expect(differing(await inspect(CONFIG, { issuer: AS }))).to.deep.equal(['issuer']);
      expect(differing(await inspect())).to.deep.equal([]);
      await closeAll();
    }
  });

  it('checks less without metadata, and reports their absence only for a configured issuer', async () => {
    await start(null);
    const checks = await inspect();
    expect(differing(checks)).to.deep.equal([]);
    expect(checks.find(({ what }) => what === 'issuer')).to.include({ verdict: 'unknown' });
    expect(differing(await inspect({ ...CONFIG, issuer: AS }))).to.deep.equal(['issuer']);
  });

  it('does not treat missing members of metadata as a difference', async () => {
    const { issuer, authorization_endpoint, token_endpoint } = METADATA;
    await start({ issuer, authorization_endpoint, token_endpoint, scopes_supported: ['other'] });
    const checks = await inspect();
    expect(differing(checks)).to.deep.equal([]);
    expect(checks.find(({ what }) => what === 'available_scopes')).to.include({ verdict: 'unknown' });
  });

  it('reports addresses without https, addresses that do not respond, and wrong token endpoints', async () => {
    await start(null);
    const cases: [Partial<OAuthConfig>, string][] = [
      [{ user_info_uri: 'http://as.example/me' }, 'user_info_uri'],
      [{ user_info_uri: 'https://127.0.0.1:1/me' }, 'user_info_uri'],
      [{ token_uri: `${AS}/me` }, 'token_uri'],
    ];
    server.answer = ({ path }) => (path === '/me' ? { status: 405 } : { status: 400, body: { error: 'invalid' } });
    for (const [config, what] of cases) {
      expect(differing(await inspect({ ...CONFIG, ...config })), what).to.deep.equal([what]);
    }
  });

  it('skips addresses that differ by account', async () => {
    await start(null);
    const checks = await inspect({ token_uri: 'https://{{site}}.as.example/token' });
    expect(checks).to.have.length(1);
    expect(checks[0]).to.include({ what: 'token_uri', verdict: 'unknown' });
    expect(server.requests).to.deep.equal([]);
  });
});
