import { expect } from 'chai';
import type { ClientAuthMethod } from '../../../core/oauth/client-auth.ts';
import { refreshTokenGrant } from '../../../core/oauth/grants/refresh-token.ts';
import type { RefreshOutcome } from '../../../core/oauth/refresh-outcome.ts';
import { Secret } from '../../../core/secret.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { closeAll } from '../net/local.ts';
import { ISSUER, SECRET, type StrictServer, startStrictServer, TOKEN_URI } from './strict-server.ts';
import { tokenServerOf } from './token-servers.ts';

describe('refreshing at a strict authorization server', () => {
  const key = rsaPair('client');
  const signing = {
    client_id: 'signing',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...key.publicKey.export({ format: 'jwk' }), use: 'sig' }] },
  };
  const pem = key.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  let server: StrictServer;

  before(async () => {
    server = await startStrictServer({ clients: [signing], lifeS: 1234 });
  });
  after(closeAll);

  interface Attempt {
    clientId?: string;
    method?: ClientAuthMethod;
    secret?: string | null;
    now?: () => number;
  }

  function refresh(token: string, attempt: Attempt = {}): Promise<RefreshOutcome> {
    const { clientId = 'basic', method = 'client_secret_basic', secret = SECRET, now = Date.now } = attempt;
    return refreshTokenGrant({
      server: tokenServerOf({ token_uri: TOKEN_URI, issuer: ISSUER }),
      client: { clientId, method, secret: secret === null ? null : new Secret(secret) },
      refreshToken: new Secret(token),
      fetch: server.pinnedFetch([ISSUER]),
      now,
    });
  }

  function tokensOf(outcome: RefreshOutcome) {
    if (!outcome.ok) throw new Error(outcome.message);
    const { accessToken, refreshToken, ...rest } = outcome.tokens;
    return { access: accessToken.reveal(), refresh: refreshToken?.reveal() ?? '', ...rest };
  }

  it('is refused with a wrong secret, an unknown token, or a token of another client', async () => {
    const token = await server.issue();
    expect(await refresh(token, { secret: 'wrong' })).to.include({ kind: 'client' });
    expect(await refresh('unknown')).to.include({ kind: 'refused' });
    expect(await refresh(await server.issue('post'))).to.include({ kind: 'refused' });
    expect(await refresh(token, { method: 'none', secret: null })).to.include({ kind: 'client' });
  });

  it('is refused with a token that was used before, and ends the whole grant', async () => {
    const first = await server.issue();
    const second = tokensOf(await refresh(first));
    expect(await server.isAlive(second.access)).to.equal(true);
    expect(await refresh(first)).to.include({ ok: false, kind: 'refused' });
    expect(await refresh(second.refresh)).to.include({ ok: false, kind: 'refused' });
    expect(await server.isAlive(second.access)).to.equal(false);
  });

  it('returns new tokens repeatedly', async () => {
    let token = await server.issue();
    for (let round = 0; round < 3; round++) {
      const before = Date.now();
      const tokens = tokensOf(await refresh(token));
      expect(tokens.refresh).not.to.equal(token);
      expect(tokens.scopes).to.deep.equal(['openid', 'offline_access']);
      expect(tokens.expiresAt).to.be.within(before + 1_233_000, Date.now() + 1_234_000);
      expect(await server.isAlive(tokens.access)).to.equal(true);
      token = tokens.refresh;
    }
  });

  describe('authenticates the client by', () => {
    const ways: [method: ClientAuthMethod, attempt: Attempt][] = [
      ['client_secret_basic', { clientId: 'basic' }],
      ['client_secret_post', { clientId: 'post' }],
      ['private_key_jwt', { clientId: 'signing', secret: pem }],
      ['none', { clientId: 'public', secret: null }],
    ];
    for (const [method, attempt] of ways) {
      it(method, async () => {
        const token = await server.issue(attempt.clientId);
        expect((await refresh(token, { ...attempt, method })).ok).to.equal(true);
      });
    }
  });

  it('is refused with an assertion of another key, or of another time', async () => {
    const other = rsaPair('stranger').privateKey;
    const forged = other.export({ type: 'pkcs8', format: 'pem' }) as string;
    const token = await server.issue('signing');
    const attempt: Attempt = { clientId: 'signing', method: 'private_key_jwt', secret: pem };
    expect(await refresh(token, { ...attempt, secret: forged })).to.include({ kind: 'client' });
    expect(await refresh(token, { ...attempt, now: () => Date.now() - 3_600_000 })).to.include({ kind: 'client' });
    expect(await refresh(token, attempt)).to.include({ ok: true });
  });

  it('sends nothing to an origin that the call may not reach (P2)', async () => {
    const before = server.requests();
    const outcome = await refreshTokenGrant({
      server: tokenServerOf({ token_uri: TOKEN_URI }),
      client: { clientId: 'basic', method: 'client_secret_basic', secret: new Secret(SECRET) },
      refreshToken: new Secret(await server.issue()),
      fetch: server.pinnedFetch(['https://elsewhere.example']),
      now: Date.now,
    });
    expect(outcome).to.include({ kind: 'unavailable', reason: 'blocked', mayBeSpent: false });
    expect(server.requests()).to.equal(before);
  });
});
