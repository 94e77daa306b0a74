import { expect } from 'chai';
import { refreshTokenGrant } from '../../../core/oauth/grants/refresh-token.ts';
import type { RefreshOutcome } from '../../../core/oauth/refresh-outcome.ts';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { Secret } from '../../../core/secret.ts';
import { tokenServerOf } from './token-servers.ts';

const AT = 1_750_000_000_000;
const CLIENT = { clientId: 'app', method: 'client_secret_basic', secret: new Secret('s3cret') } as const;

function refresh(fetch: ProtocolFetch): Promise<RefreshOutcome> {
  const server = tokenServerOf({ token_uri: 'https://as.example/token' });
  return refreshTokenGrant({ server, client: CLIENT, refreshToken: new Secret('rt-1'), fetch, now: () => AT });
}

function answering(status: number, body: unknown = '', headers: Record<string, string> = {}): ProtocolFetch {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return async () => new Response(text, { status, headers });
}

function failing(kind: string, sent: boolean): ProtocolFetch {
  return () => Promise.reject(Object.assign(new Error(`It was ${kind}.`), { kind, sent }));
}

describe('judging a failed refresh (R6)', () => {
  const GOOD = { access_token: 'at', token_type: 'Bearer', expires_in: 3600 };

  describe('ends the grant for', () => {
    const cases: [status: number, error: string][] = [
      [400, 'invalid_grant'],
      [401, 'invalid_grant'],
      [200, 'invalid_grant'],
      [200, 'bad_refresh_token'],
      [200, 'token_revoked'],
      [400, 'interaction_required'],
      [403, 'access_denied'],
    ];
    for (const [status, error] of cases) {
      it(`${error} with ${status}`, async () => {
        const outcome = await refresh(answering(status, { error }));
        expect(outcome).to.include({ ok: false, kind: 'refused' });
      });
    }
  });

  describe('reports a faulty connection for', () => {
    const cases: [status: number, body: unknown][] = [
      [401, { error: 'invalid_client' }],
      [400, { error: 'unauthorized_client' }],
      [400, { error: 'unsupported_grant_type' }],
      [400, { error: 'invalid_request' }],
      [200, { error: 'incorrect_client_credentials' }],
      [401, '<h1>Unauthorized</h1>'],
    ];
    for (const [status, body] of cases) {
      it(`${status} ${JSON.stringify(body)}`, async () => {
        expect(await refresh(answering(status, body))).to.include({ ok: false, kind: 'client' });
      });
    }
  });

  describe('does not end the grant for', () => {
    const cases: [title: string, fetch: ProtocolFetch, reason: string, mayBeSpent: boolean][] = [
      ['500', answering(500), 'server_error', true],
      ['503 with invalid_grant', answering(503, { error: 'invalid_grant' }), 'server_error', true],
      ['429', answering(429, { error: 'invalid_grant' }), 'rate_limited', false],
      ['200 that asks for fewer requests', answering(200, { error: 'ratelimited' }), 'rate_limited', false],
      ['400 temporarily_unavailable', answering(400, { error: 'temporarily_unavailable' }), 'server_error', true],
      ['400 with an unknown code', answering(400, { error: 'teapot' }), 'invalid_response', false],
      ['400 with a page', answering(400, '<h1>Bad</h1>'), 'invalid_response', false],
      ['404', answering(404), 'invalid_response', false],
      ['a redirect', answering(302, '', { location: 'https://evil.example' }), 'invalid_response', false],
      ['a redirect with a token', answering(302, GOOD), 'invalid_response', false],
      ['a refusal with a token', answering(400, GOOD), 'invalid_response', false],
      ['200 with a page', answering(200, '<h1>Sign in</h1>'), 'invalid_response', true],
      ['200 with another token type', answering(200, { ...GOOD, token_type: 'DPoP' }), 'invalid_response', true],
      ['no connection', failing('unreachable', false), 'unreachable', false],
      ['a connection that broke', failing('unreachable', true), 'unreachable', true],
      ['no trusted connection', failing('tls', false), 'unreachable', false],
      ['silence', failing('timeout', true), 'timeout', true],
      ['an endless answer', failing('too_large', true), 'invalid_response', true],
      ['the rules of egress', failing('blocked', false), 'blocked', false],
    ];
    for (const [title, fetch, reason, mayBeSpent] of cases) {
      it(title, async () => {
        const outcome = await refresh(fetch);
        expect(outcome).to.include({ ok: false, kind: 'unavailable', reason, mayBeSpent });
      });
    }
  });

  it('returns the time to try again, from seconds or a date', async () => {
    expect(await refresh(answering(429, '', { 'retry-after': '7' }))).to.include({ retryAfterMs: 7000 });
    const date = new Date(AT + 9000).toUTCString();
    expect(await refresh(answering(503, '', { 'retry-after': date }))).to.include({ retryAfterMs: 9000 });
    expect(await refresh(answering(503, '', { 'retry-after': 'soon' }))).not.to.have.property('retryAfterMs');
  });

  it('treats 200 and 201 with a token as success', async () => {
    for (const status of [200, 201]) expect((await refresh(answering(status, GOOD))).ok).to.equal(true);
  });

  it('includes nothing of the response in its messages except known codes', async () => {
    const echo = { error: 'rt-1', error_description: 's3cret' };
    for (const status of [200, 400, 401, 500]) {
      const outcome = await refresh(answering(status, echo));
      expect(JSON.stringify(outcome)).not.to.match(/rt-1|s3cret/);
    }
  });

  it('rethrows an internal error', async () => {
    const mistake = new TypeError('x is not a function');
    const thrown = await refresh(() => Promise.reject(mistake)).catch((error: unknown) => error);
    expect(thrown).to.equal(mistake);
  });
});
