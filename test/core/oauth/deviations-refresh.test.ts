import { expect } from 'chai';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { refreshFactsOf } from '../../../core/oauth/refresh-facts.ts';
import { Secret } from '../../../core/secret.ts';
import { flowOf, grantedBy } from '../../support/oauth-flow.ts';
import { AS, type Behaviour, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';

/** Refreshes once with a config, at a server that has issued a refresh token. */
async function refreshed(behaviour: Behaviour, config: OAuthConfig) {
  const server = await startScriptableAs(behaviour);
  const token = server.issue(['read', 'write']).refresh_token ?? '';
  const outcome = await flowOf(server, config).refresh(new Secret(token), ['read', 'write']);
  return { server, token, outcome };
}

describe('A refresh', () => {
  afterEach(closeAll);

  const cases: [title: string, behaviour: Behaviour, config: OAuthConfig][] = [
    ['at another address (Figma)', { refresh: { path: '/refresh' } }, { refresh: { uri: `${AS}/refresh` } }],
    [
      'with the scopes of the account (Microsoft Advertising)',
      { refresh: { wants: { scope: 'read write' } } },
      { refresh: { with_scopes: true } },
    ],
    [
      'with a parameter of its own',
      { refresh: { wants: { refresh_token_expires_in: '7776000' } } },
      { refresh: { parameters: { refresh_token_expires_in: '7776000' } } },
    ],
    [
      'without the word for the grant, at its own address (Clover)',
      { refresh: { path: '/refresh', refuses: ['grant_type'] }, token: { format: 'json' } },
      {
        token_request_format: 'json',
        refresh: {
          call: {
            method: 'POST',
            uri: `${AS}/refresh`,
            auth: 'client',
            json: { refresh_token: '{{refresh_token}}' },
          },
        },
      },
    ],
  ];
  for (const [title, behaviour, config] of cases) {
    describe(title, () => {
      it('is refused without the deviation', async () => {
        const { refresh: _data, ...without } = config;
        expect((await refreshed(behaviour, without)).outcome.ok).to.equal(false);
      });

      it('succeeds with the deviation', async () => {
        const { outcome, server } = await refreshed(behaviour, config);
        expect(server.isAlive(grantedBy(outcome).access)).to.equal(true);
      });
    });
  }

  it('that returns a new refresh token invalidates the old one', async () => {
    const { outcome, server, token } = await refreshed({}, {});
    expect(grantedBy(outcome).refresh).to.be.a('string').and.not.equal(token);
    expect(server.isAlive(token)).to.equal(false);
    expect(await flowOf(server).refresh(new Secret(token))).to.include({ ok: false, kind: 'refused' });
  });

  it('that returns no refresh token keeps the old one valid', async () => {
    const { outcome, server, token } = await refreshed({ refresh: { kind: 'static' } }, {});
    expect(grantedBy(outcome).refresh).to.equal(null);
    expect(await flowOf(server).refresh(new Secret(token))).to.include({ ok: true });
  });

  it('never sends a parameter of a pattern in place of one of the protocol', async () => {
    const parameters = { grant_type: 'password', refresh_token: 'theirs', client_id: 'theirs' };
    expect((await refreshed({}, { refresh: { parameters } })).outcome).to.include({ ok: true });
  });

  it('is never sent to an origin that the rule of its value does not allow', async () => {
    const config: OAuthConfig = {
      token: { origin_from: 'accounts_server' },
      account_values: [{ name: 'accounts_server', from: '/callback/s', origins: [AS], optional: true }],
    };
    const server = await startScriptableAs();
    const refresh = (accounts_server: string) =>
      flowOf(server, config, { inputs: { accounts_server } }).refresh(new Secret(server.issue().refresh_token ?? ''));
    expect(await refresh(AS)).to.include({ ok: true });
    const away = await refresh('https://evil.example').catch((error: unknown) => error);
    expect(String(away)).to.match(/does not have one of the allowed origins/);
    expect(server.requests).to.have.length(1);
  });

  it("recognizes the vendor's error code for an ended grant", async () => {
    const vendor = { error: () => ({ status: 200, body: { status: 0, code: 20_112 } }) };
    const { server } = await refreshed({ token: vendor }, {});
    const gone = new Secret('rt-gone');
    const errors = { success: { pointer: '/status', equals: 1 }, code: '/code' };
    const codes = { '20112': 'invalid_grant' } as const;
    const told = flowOf(server, { token: { answer: { errors: { ...errors, codes } } } });
    const untold = flowOf(server, { token: { answer: { errors } } });
    expect(await told.refresh(gone)).to.include({ ok: false, kind: 'refused' });
    expect(await untold.refresh(gone)).to.include({ ok: false, kind: 'unavailable', reason: 'invalid_response' });
  });
});

describe('The lifetime of grants', () => {
  it('is returned in milliseconds, for the refresh of idle accounts', () => {
    const refresh = { kind: 'rotating', idle_days: 60, life_days: 365, margin_s: 30 } as const;
    expect(refreshFactsOf({ refresh })).to.deep.equal({
      kind: 'rotating',
      idleLifeMs: 60 * 86_400_000,
      lifeMs: 365 * 86_400_000,
      marginMs: 30_000,
    });
    expect(refreshFactsOf({})).to.deep.equal({ kind: null, idleLifeMs: null, lifeMs: null, marginMs: null });
  });
});
