import { expect } from 'chai';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { type RevocationOutcome, revokeTokens } from '../../../core/oauth/revocation.ts';
import { Secret } from '../../../core/secret.ts';
import { flowOf } from '../../support/oauth-flow.ts';
import {
  type Answer,
  API,
  AS,
  type Behaviour,
  CLIENT_ID,
  CLIENT_SECRET,
  type Received,
  type ScriptableAs,
  startScriptableAs,
} from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';

const BASIC = `Basic ${Buffer.from(`${CLIENT_ID}:${new URLSearchParams({ s: CLIENT_SECRET }).toString().slice(2)}`).toString('base64')}`;

/** Revokes a token. @returns `good`, the success response of the endpoint; 404 if the token is missing or not valid */
function killed(server: ScriptableAs, token: string | null | undefined, good: Answer = { status: 200 }): Answer {
  if (!token || !server.isAlive(token)) return { status: 404, body: { error: 'no_such_token' } };
  server.kill(token);
  return good;
}

async function revoked(behaviour: Behaviour, config: OAuthConfig) {
  const server = await startScriptableAs(behaviour);
  const { access_token: access, refresh_token: refresh = '' } = server.issue();
  const tokens = { accessToken: new Secret(access), refreshToken: new Secret(refresh) };
  const flow = flowOf(server, config);
  const outcome = await flow.revoke(tokens);
  return {
    server,
    outcome,
    again: () => flow.revoke(tokens),
    alive: { access: server.isAlive(access), refresh: server.isAlive(refresh) },
    access,
    refresh,
  };
}

describe('Revoking', () => {
  afterEach(closeAll);

  describe('as the standard says (RFC 7009)', () => {
    const standard: Behaviour = {
      routes: {
        'POST /revoke': ({ body, headers }, server) => {
          if (headers.authorization !== BASIC) return { status: 401, body: { error: 'invalid_client' } };
          const token = new URLSearchParams(body).get('token') ?? '';
          server.kill(token);
          return { status: 200 };
        },
      },
    };
    const config = { revocation_uri: `${AS}/revoke` };

    it('revokes the refresh token first, then the access token, each with its token type hint', async () => {
      const { server, outcome, alive, access, refresh } = await revoked(standard, config);
      expect(outcome).to.deep.equal({ kind: 'revoked' });
      expect(alive).to.deep.equal({ access: false, refresh: false });
      const forms = server.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
      expect(forms).to.deep.equal([
        { token: refresh, token_type_hint: 'refresh_token' },
        { token: access, token_type_hint: 'access_token' },
      ]);
    });

    it('can be repeated', async () => {
      const { again } = await revoked(standard, config);
      expect(await again()).to.deep.equal({ kind: 'revoked' });
    });

    it('fails for a client that the provider rejects', async () => {
      const { outcome, alive } = await revoked(standard, { ...config, client_auth_method: 'client_secret_post' });
      expect(outcome).to.include({ kind: 'failed' });
      expect(alive).to.deep.equal({ access: true, refresh: true });
    });

    it('sends the headers that every request to the provider requires', async () => {
      const versioned: Behaviour = {
        routes: { 'POST /revoke': ({ headers }) => ({ status: headers['x-version'] === '2' ? 200 : 400 }) },
      };
      expect((await revoked(versioned, config)).outcome).to.include({ kind: 'failed' });
      const token = { headers: { 'X-Version': '2' } };
      expect((await revoked(versioned, { ...config, token })).outcome).to.deep.equal({ kind: 'revoked' });
    });

    it('succeeds immediately without a token', async () => {
      const server = await startScriptableAs(standard);
      const outcome = await flowOf(server, config).revoke({ accessToken: null, refreshToken: null });
      expect(outcome).to.deep.equal({ kind: 'revoked' });
      expect(server.requests).to.have.length(0);
    });

    const answers: [title: string, answer: Answer, outcome: RevocationOutcome['kind']][] = [
      ['200', { status: 200 }, 'revoked'],
      ['200 with a page', { status: 200, body: '<p>ok</p>' }, 'revoked'],
      ['204', { status: 204 }, 'revoked'],
      [
        '400 invalid_token, which older servers say of one that is gone',
        { status: 400, body: { error: 'invalid_token' } },
        'revoked',
      ],
      ['400 unsupported_token_type', { status: 400, body: { error: 'unsupported_token_type' } }, 'failed'],
      ['400 access_denied', { status: 400, body: { error: 'access_denied' } }, 'failed'],
      ['200 with invalid_client', { status: 200, body: { error: 'invalid_client' } }, 'failed'],
      ['401', { status: 401 }, 'failed'],
      ['404', { status: 404 }, 'failed'],
      ['a redirect', { status: 302, headers: { location: 'https://evil.example' } }, 'failed'],
      ['429', { status: 429 }, 'retry_later'],
      ['500', { status: 500 }, 'retry_later'],
      ['503 (RFC 7009 §2.2.1)', { status: 503, headers: { 'retry-after': '120' } }, 'retry_later'],
      ['400 temporarily_unavailable', { status: 400, body: { error: 'temporarily_unavailable' } }, 'retry_later'],
    ];
    for (const [title, answer, kind] of answers) {
      it(`${kind} by ${title}`, async () => {
        const { outcome } = await revoked({ routes: { 'POST /revoke': () => answer } }, config);
        expect(outcome).to.include({ kind });
        if (answer.headers?.['retry-after']) expect(outcome).to.include({ retryAfterMs: 120_000 });
      });
    }

    it('is to be repeated when one of the two requests got no response', async () => {
      let calls = 0;
      const flaky: Behaviour = { routes: { 'POST /revoke': () => ({ status: ++calls === 2 ? 503 : 200 }) } };
      expect((await revoked(flaky, config)).outcome).to.include({ kind: 'retry_later' });
    });

    it('succeeds when the refresh token was revoked and the provider cannot revoke the access token', async () => {
      let calls = 0;
      const partly: Behaviour = { routes: { 'POST /revoke': () => ({ status: ++calls === 2 ? 400 : 200 }) } };
      expect((await revoked(partly, config)).outcome).to.deep.equal({ kind: 'revoked' });
    });

    it('is not sent to a host that the credentials are not bound to (P2)', async () => {
      const server = await startScriptableAs();
      const flow = flowOf(server, { revocation_uri: 'https://elsewhere.example/revoke' });
      const outcome = await flow.revoke({ accessToken: new Secret('at'), refreshToken: null });
      expect(outcome).to.include({ kind: 'failed' });
      expect(server.requests).to.have.length(0);
    });

    it('is to be repeated when the provider cannot be reached', async () => {
      const { provider } = flowOf(await startScriptableAs(), config);
      const unreachable = Object.assign(new Error('No connection.'), { kind: 'unreachable', sent: false });
      const outcome = await revokeTokens({
        provider,
        client: { clientId: 'app', method: 'none', secret: null },
        accessToken: new Secret('at'),
        refreshToken: null,
        fetch: () => Promise.reject(unreachable),
        now: Date.now,
      });
      expect(outcome).to.deep.equal({ kind: 'retry_later', message: 'No connection.' });
    });
  });

  it('is unsupported if the provider has no endpoint for it', async () => {
    expect((await revoked({}, {})).outcome).to.deep.equal({ kind: 'not_revocable' });
    const denied = { revocation_uri: `${AS}/revoke`, revocation: { supported: false } } as const;
    const { outcome, server } = await revoked({}, denied);
    expect(outcome).to.deep.equal({ kind: 'not_revocable' });
    expect(server.requests).to.have.length(0);
  });

  describe("by the vendor's own method:", () => {
    const form = ({ body }: Received, name: string) => new URLSearchParams(body).get(name);
    const cases: [title: string, routes: NonNullable<Behaviour['routes']>, config: OAuthConfig['revocation']][] = [
      [
        'DELETE with the client in the header, its id in the path and the token in JSON (GitHub)',
        {
          [`DELETE /applications/${CLIENT_ID}/token`]: ({ body, headers }, server) =>
            headers.authorization === BASIC
              ? killed(server, JSON.parse(body).access_token, { status: 204 })
              : { status: 401 },
        },
        {
          tokens: ['access_token'],
          gone_statuses: [404, 422],
          call: {
            method: 'DELETE',
            uri: `${API}/applications/{{client_id}}/token`,
            auth: 'client',
            json: { access_token: '{{token}}' },
          },
        },
      ],
      [
        'POST with the token in the header, and ok: true (Slack)',
        {
          'POST /auth.revoke': (request, server) => {
            const token = server.bearerOf(request);
            if (token === undefined) return { body: { ok: false, error: 'invalid_token' } };
            return killed(server, token, { body: { ok: true, revoked: true } });
          },
        },
        {
          tokens: ['access_token'],
          call: { method: 'POST', uri: `${API}/auth.revoke` },
          errors: { success: { pointer: '/ok', equals: true }, code: '/error' },
        },
      ],
      [
        'POST with the token in the header and no body (Dropbox, DigitalOcean)',
        {
          'POST /token/revoke': (request, server) => {
            const token = server.bearerOf(request);
            if (token === undefined) return { status: 401 };
            return request.body === '' ? killed(server, token) : { status: 400 };
          },
        },
        { tokens: ['access_token'], call: { method: 'POST', uri: `${API}/token/revoke` } },
      ],
      [
        'a form with everything in it (Webflow)',
        {
          'POST /revoke_authorization': (request, server) =>
            form(request, 'client_id') === CLIENT_ID && form(request, 'client_secret') === CLIENT_SECRET
              ? killed(server, form(request, 'access_token'))
              : { status: 401 },
        },
        {
          tokens: ['access_token'],
          gone_statuses: [404],
          call: {
            method: 'POST',
            uri: `${API}/revoke_authorization`,
            auth: 'none',
            form: { client_id: '{{client_id}}', client_secret: '{{client_secret}}', access_token: '{{token}}' },
          },
        },
      ],
      [
        'JSON with everything in it (Miro)',
        {
          'POST /v2/oauth/revoke': ({ body }, server) => {
            const { clientId, clientSecret, accessToken } = JSON.parse(body);
            return clientId === CLIENT_ID && clientSecret === CLIENT_SECRET
              ? killed(server, accessToken, { status: 204 })
              : { status: 400 };
          },
        },
        {
          tokens: ['access_token'],
          gone_statuses: [404],
          call: {
            method: 'POST',
            uri: `${API}/v2/oauth/revoke`,
            auth: 'none',
            json: { clientId: '{{client_id}}', clientSecret: '{{client_secret}}', accessToken: '{{token}}' },
          },
        },
      ],
      [
        'the token in the query (Zoho)',
        { 'POST /v2/token/revoke': ({ query }, server) => killed(server, query.get('token')) },
        {
          tokens: ['refresh_token'],
          gone_statuses: [404],
          call: { method: 'POST', uri: `${API}/v2/token/revoke`, auth: 'none', query: { token: '{{token}}' } },
        },
      ],
      [
        'DELETE of the present token (Zendesk, Smartsheet)',
        {
          'DELETE /tokens/current': (request, server) => {
            const token = server.bearerOf(request);
            return token === undefined ? { status: 401 } : killed(server, token, { status: 204 });
          },
        },
        { tokens: ['access_token'], call: { method: 'DELETE', uri: `${API}/tokens/current` } },
      ],
    ];
    for (const [title, routes, revocation] of cases) {
      it(title, async () => {
        const { outcome, alive, again, server } = await revoked({ routes }, { revocation });
        expect(outcome).to.deep.equal({ kind: 'revoked' });
        const [kind] = revocation?.tokens ?? [];
        expect(kind === 'refresh_token' ? alive.refresh : alive.access).to.equal(false);
        // Repeats the request, as a job does that was stopped before it recorded the response.
        expect(await again()).to.deep.equal({ kind: 'revoked' });
        expect(server.requests).to.have.length(2);
      });

      it(`${title} differs from the standard request`, async () => {
        const { outcome, alive } = await revoked({ routes }, { revocation_uri: `${AS}/revoke` });
        expect(outcome).to.include({ kind: 'failed' });
        expect(alive).to.deep.equal({ access: true, refresh: true });
      });
    }

    it('sends the token in the path (Trello), where it cannot form another path', async () => {
      const server = await startScriptableAs({
        routes: { 'DELETE /1/tokens/a%2F..%2Fb%3Fx': () => ({ status: 200 }) },
      });
      const call = { method: 'DELETE', uri: `${API}/1/tokens/{{token}}`, auth: 'none' } as const;
      const flow = flowOf(server, { revocation: { call } });
      const revoke = (token: string) => flow.revoke({ accessToken: new Secret(token), refreshToken: null });
      expect(await revoke('a/../b?x')).to.deep.equal({ kind: 'revoked' });
      expect(await revoke('..')).to.include({ kind: 'failed' });
      expect(server.requests.map(({ target }) => target)).to.deep.equal(['/1/tokens/a%2F..%2Fb%3Fx']);
    });
  });

  it('includes no tokens in its messages', async () => {
    const echo: Behaviour = { routes: { 'POST /revoke': ({ body }) => ({ status: 400, body: { error: body } }) } };
    const { outcome, access, refresh } = await revoked(echo, { revocation_uri: `${AS}/revoke` });
    expect(JSON.stringify(outcome)).not.to.contain(access).and.not.to.contain(refresh);
  });
});
