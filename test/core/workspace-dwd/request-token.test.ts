import { expect } from 'chai';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { Secret } from '../../../core/secret.ts';
import { delegationClaims } from '../../../core/workspace-dwd/assertion.ts';
import type { DelegatedToken, DelegatedTokenOutcome } from '../../../core/workspace-dwd/read-response.ts';
import { type DelegatedTokenRequest, requestDelegatedToken } from '../../../core/workspace-dwd/request-token.ts';
import { readServiceAccount } from '../../../core/workspace-dwd/service-account.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { closeAll } from '../net/local.ts';
import {
  CLIENT_EMAIL,
  type DelegationServer,
  ISSUER,
  keyFile,
  startDelegationServer,
  TOKEN_ENDPOINT,
  USERS,
} from './delegation-server.ts';

const [MARIA, JONAS] = USERS;
const HOUR = 3_600_000;

describe('domain-wide delegation at a workspace that verifies it', () => {
  let server: DelegationServer;

  before(async () => {
    server = await startDelegationServer();
  });
  after(closeAll);

  function ask(changes: Partial<DelegatedTokenRequest> = {}): Promise<DelegatedTokenOutcome> {
    return requestDelegatedToken({
      account: readServiceAccount(keyFile()),
      subject: MARIA,
      scopes: ['openid', 'mail.read'],
      audience: TOKEN_ENDPOINT.href,
      tokenEndpoint: TOKEN_ENDPOINT,
      fetch: server.pinnedFetch([ISSUER]),
      now: Date.now,
      ...changes,
    });
  }

  async function tokenOf(outcome: Promise<DelegatedTokenOutcome>): Promise<DelegatedToken> {
    const settled = await outcome;
    if (!settled.ok) throw new Error(settled.message);
    return settled.token;
  }

  /** Sends a request, and counts how many requests were needed. */
  async function counted(asking: () => Promise<DelegatedTokenOutcome>): Promise<[number, DelegatedTokenOutcome]> {
    const before = server.requests();
    const outcome = await asking();
    return [server.requests() - before, outcome];
  }

  describe('is refused (negative controls)', () => {
    it("with a key that is not the account's", async () => {
      const { privateKey } = rsaPair('stranger');
      const file = keyFile({ private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
      expect(await ask({ account: readServiceAccount(file) })).to.include({ ok: false, kind: 'client' });
    });

    it('with a key that was removed from the account', async () => {
      const account = readServiceAccount(keyFile({ private_key_id: 'key-0' }));
      expect(await ask({ account })).to.include({ ok: false, kind: 'client' });
    });

    it('as another service account', async () => {
      const account = readServiceAccount(keyFile({ client_email: 'other@project.iam.example' }));
      expect(await ask({ account })).to.include({ ok: false, kind: 'client' });
    });

    it('for another audience', async () => {
      expect(await ask({ audience: ISSUER })).to.include({ ok: false, kind: 'client' });
    });

    it('for a subject that the workspace does not know', async () => {
      expect(await ask({ subject: 'nobody@acme.example' })).to.include({ ok: false, kind: 'refused' });
    });

    it('with a token that was never issued', async () => {
      const { accessToken } = await tokenOf(ask());
      expect(await server.whoIs(accessToken)).to.equal(MARIA);
      expect(await server.whoIs(new Secret('guessed'))).to.equal(null);
    });
  });

  it('returns a token that acts for the subject, with its scopes and its expiry', async () => {
    const before = Date.now();
    const token = await tokenOf(ask());
    expect(await server.whoIs(token.accessToken)).to.equal(MARIA);
    expect(token.scopes).to.deep.equal(['openid', 'mail.read']);
    expect(token.expiresAt).to.be.within(before + HOUR - 5000, Date.now() + HOUR);
  });

  it('acts for another subject once the account has another subject', async () => {
    const tokens = [await tokenOf(ask()), await tokenOf(ask({ subject: JONAS }))];
    expect(await Promise.all(tokens.map(({ accessToken }) => server.whoIs(accessToken)))).to.deep.equal([MARIA, JONAS]);
  });

  it('reports a scope that the delegation does not include as a fault of the delegation', async () => {
    const [requests, outcome] = await counted(() => ask({ scopes: ['openid', 'drive.write'] }));
    expect(outcome).to.include({ ok: false, kind: 'client' });
    expect(outcome.ok ? '' : outcome.message).to.include('unauthorized_client');
    expect(requests).to.equal(1);
  });

  describe('when the clocks differ', () => {
    it('retries once with the time of the provider', async () => {
      for (const by of [HOUR, -2 * HOUR]) {
        const [requests, outcome] = await counted(() => ask({ now: () => Date.now() + by }));
        expect([requests, outcome.ok]).to.deep.equal([2, true]);
        // The expiry is a time of the client's own clock, because the client compares it with this clock.
        if (outcome.ok)
          expect(outcome.token.expiresAt).to.be.within(Date.now() + by + HOUR - 5000, Date.now() + by + HOUR);
      }
    });

    it('sends no more than two requests', async () => {
      const [requests, outcome] = await counted(() =>
        ask({ subject: 'nobody@acme.example', now: () => Date.now() + HOUR }),
      );
      expect([requests, outcome.ok]).to.deep.equal([2, false]);
      expect(outcome).to.include({ kind: 'refused' });
    });

    it("ignores a provider's clock that differs by a day", async () => {
      const [requests, outcome] = await counted(() => ask({ now: () => Date.now() + 48 * HOUR }));
      expect([requests, outcome.ok]).to.deep.equal([1, false]);
    });
  });

  it('sends nothing without a subject or without scopes', async () => {
    for (const changes of [{ subject: '' }, { subject: '  ' }, { scopes: [] }]) {
      const [requests, outcome] = await counted(() => ask(changes));
      expect(outcome).to.include({ ok: false, kind: 'client' });
      expect(requests).to.equal(0);
    }
  });

  it('connects only to the pinned origin', async () => {
    const outcome = await ask({ tokenEndpoint: new URL('https://elsewhere.example/token') });
    expect(outcome).to.include({ ok: false, kind: 'unavailable', reason: 'blocked', mayBeSpent: false });
  });
});

describe('the claims of a delegation (RFC 7523 §3)', () => {
  it('are account, subject, scopes, audience and one hour, and nothing else', () => {
    const account = readServiceAccount(keyFile());
    const delegation = { account, subject: MARIA, scopes: ['a', 'b'], audience: TOKEN_ENDPOINT.href };
    expect(delegationClaims(delegation, 1_750_000_000_999)).to.deep.equal({
      iss: CLIENT_EMAIL,
      sub: MARIA,
      scope: 'a b',
      aud: 'https://workspace.example/token',
      iat: 1_750_000_000,
      exp: 1_750_003_600,
    });
  });
});

describe('the request and response of a delegation', () => {
  const AT = 1_750_000_000_000;
  const GOOD = { access_token: 'at', token_type: 'Bearer', expires_in: 3599 };

  async function answered(status: number, body: unknown, headers: Record<string, string> = {}) {
    const sent: RequestInit[] = [];
    const fetch: ProtocolFetch = async (_url, init) => {
      sent.push(init ?? {});
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
    };
    const outcome = await requestDelegatedToken({
      account: readServiceAccount(keyFile()),
      subject: MARIA,
      scopes: ['a', 'b'],
      audience: TOKEN_ENDPOINT.href,
      tokenEndpoint: TOKEN_ENDPOINT,
      fetch,
      now: () => AT,
    });
    return { outcome, sent };
  }

  it('sends the grant of RFC 7523 §2.1 as a form, and follows no redirect', async () => {
    const { sent } = await answered(200, GOOD);
    const form = Object.fromEntries(new URLSearchParams(String(sent[0]?.body)));
    expect(form).to.have.all.keys('grant_type', 'assertion');
    expect(form['grant_type']).to.equal('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(sent[0]).to.include({ method: 'POST', redirect: 'manual' });
    const [header = '', payload = ''] = (form['assertion'] ?? '').split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).to.deep.equal({
      alg: 'RS256',
      typ: 'JWT',
      kid: 'key-1',
    });
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).to.include({ sub: MARIA, exp: AT / 1000 + 3600 });
  });

  it('prefers the granted scopes to the requested ones', async () => {
    const { outcome } = await answered(200, { ...GOOD, scope: 'b' });
    expect(outcome.ok && outcome.token.scopes).to.deep.equal(['b']);
    const silent = (await answered(200, GOOD)).outcome;
    expect(silent.ok && [silent.token.scopes, silent.token.expiresAt]).to.deep.equal([['a', 'b'], AT + 3_599_000]);
  });

  const cases: [title: string, status: number, body: unknown, expected: object][] = [
    [
      'an unknown subject',
      400,
      { error: 'invalid_grant', error_description: 'Invalid email or User ID' },
      { kind: 'refused' },
    ],
    ['a grant that is refused without a word', 400, { error: 'invalid_grant' }, { kind: 'refused' }],
    ['a signature', 400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, { kind: 'client' }],
    [
      'an account that is gone',
      400,
      { error: 'invalid_grant', error_description: 'Invalid grant: account not found' },
      { kind: 'client' },
    ],
    ['a scope', 401, { error: 'unauthorized_client' }, { kind: 'client' }],
    [
      'a delegation',
      403,
      { error: 'access_denied', error_description: 'Requested client not authorized.' },
      { kind: 'client' },
    ],
    ['a page with 401', 401, '<h1>No</h1>', { kind: 'client' }],
    ['a page with 400', 400, '<h1>No</h1>', { kind: 'unavailable', reason: 'invalid_response' }],
    ['a page with 200', 200, '<h1>Hello</h1>', { kind: 'unavailable', reason: 'invalid_response' }],
    ['a refusal with a token', 400, GOOD, { kind: 'unavailable', reason: 'invalid_response' }],
    ['a redirect', 302, '', { kind: 'unavailable', reason: 'invalid_response' }],
    ['too many requests', 429, { error: 'invalid_grant' }, { kind: 'unavailable', reason: 'rate_limited' }],
    ['a failure', 503, { error: 'invalid_grant' }, { kind: 'unavailable', reason: 'server_error' }],
    ['an unknown code', 400, { error: 'teapot' }, { kind: 'unavailable', reason: 'invalid_response' }],
    ['a temporary one', 400, { error: 'temporarily_unavailable' }, { reason: 'server_error', mayBeSpent: false }],
  ];
  for (const [title, status, body, expected] of cases) {
    it(`classifies ${title}`, async () => {
      expect((await answered(status, body)).outcome).to.include({ ok: false, ...expected });
    });
  }

  it('returns the time to try again', async () => {
    expect((await answered(429, '', { 'retry-after': '7' })).outcome).to.include({ retryAfterMs: 7000 });
  });

  it('includes nothing of the response in its messages except known codes', async () => {
    for (const status of [200, 400, 401, 403, 500]) {
      for (const error of ['invalid_grant', 'unauthorized_client', 'leak']) {
        const { outcome } = await answered(status, { error, error_description: `leak ${MARIA} signature` });
        expect(JSON.stringify(outcome)).not.to.match(/leak|maria/);
      }
    }
  });

  it('rethrows an internal error', async () => {
    const mistake = new TypeError('x is not a function');
    const thrown = await requestDelegatedToken({
      account: readServiceAccount(keyFile()),
      subject: MARIA,
      scopes: ['a'],
      audience: '',
      tokenEndpoint: TOKEN_ENDPOINT,
      fetch: () => Promise.reject(mistake),
      now: () => AT,
    }).catch((error: unknown) => error);
    expect(thrown).to.equal(mistake);
  });
});
