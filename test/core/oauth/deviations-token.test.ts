import { expect } from 'chai';
import { flowOf, grantedBy } from '../../support/oauth-flow.ts';
import { AS, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';
import { deviation } from './deviations.ts';

const AT = 1_750_000_000_000;
const atOnce = { now: () => AT };

describe('A token endpoint', () => {
  deviation('that wants the client in the body (HubSpot, Linear)', {
    behaviour: { token: { client: 'post' } },
    config: { client_auth_method: 'client_secret_post' },
  });

  deviation('that decodes nothing of Basic', {
    behaviour: { token: { client: 'basic_raw' } },
    config: { token: { basic: 'raw' } },
  });

  deviation('that wants the secret as the user name (Stripe)', {
    behaviour: { token: { client: 'secret_as_user' } },
    config: { token: { basic: 'secret_as_user' } },
  });

  deviation('that wants JSON, with the client in the header (Notion)', {
    behaviour: { token: { format: 'json' } },
    config: { token_request_format: 'json' },
  });

  deviation('that wants JSON, with the client in the body under other names (TikTok Business)', {
    behaviour: {
      token: {
        format: 'json',
        client: 'post',
        names: { client_id: 'app_id', client_secret: 'secret', code: 'auth_code' },
      },
    },
    config: {
      client_auth_method: 'client_secret_post',
      token_request_format: 'json',
      token: { names: { client_id: 'app_id', client_secret: 'secret', code: 'auth_code' } },
    },
    without: { client_auth_method: 'client_secret_post', token_request_format: 'json' },
  });

  deviation('that has another word for the grant, and for its types (Basecamp)', {
    behaviour: {
      token: {
        names: { grant_type: 'type' },
        grantTypes: { authorization_code: 'web_server', refresh_token: 'refresh' },
      },
    },
    config: {
      token: {
        names: { grant_type: 'type' },
        grant_types: { authorization_code: 'web_server', refresh_token: 'refresh' },
      },
    },
    check: async ({ flow }) => {
      const outcome = await flow.run();
      if (!outcome.ok) throw new Error(outcome.message);
      expect(await flow.refresh(outcome.tokens.refreshToken)).to.include({ ok: true });
    },
  });

  deviation('that requires its own parameter (BambooHR, Shopify, Zendesk)', {
    behaviour: { token: { wants: { request: 'token' } } },
    config: { extra_token_params: { request: 'token' } },
  });

  deviation('that knows no grant_type and no redirect_uri (Shopify)', {
    behaviour: { token: { refuses: ['grant_type', 'redirect_uri'] } },
    config: { token: { omit: ['grant_type', 'redirect_uri'] } },
  });

  deviation('that requires its own header (Notion)', {
    behaviour: { token: { headers: { 'notion-version': '2026-03-11' } } },
    config: { token: { headers: { 'Notion-Version': '2026-03-11' } } },
  });

  deviation('whose tokens stand in a part of the answer (Slack, TikTok)', {
    behaviour: {
      token: {
        answer: ({ access_token, scopes }) => ({
          body: { ok: true, authed_user: { id: 'U1', access_token, scope: scopes.join(','), token_type: 'user' } },
        }),
      },
    },
    config: { token: { answer: { at: ['', '/authed_user'] } } },
    check: ({ granted }) => expect(granted.scopes).to.deep.equal(['read']),
  });

  deviation('whose answer has other names (Sentry)', {
    behaviour: {
      token: {
        answer: ({ access_token, refresh_token }) => ({
          status: 201,
          body: {
            token: access_token,
            refreshToken: refresh_token,
            expiresAt: '2025-06-15T17:06:40Z',
            scopes: ['read'],
          },
        }),
      },
    },
    config: {
      token: {
        answer: {
          names: { access_token: 'token', refresh_token: 'refreshToken', expires_in: 'expiresAt', scope: 'scopes' },
          expires_in_unit: 'rfc3339',
        },
      },
    },
    options: atOnce,
    check: ({ granted, server }) => {
      expect(granted.expiresAt).to.equal(Date.parse('2025-06-15T17:06:40Z'));
      expect(server.isAlive(granted.refresh ?? '')).to.equal(true);
      expect(granted.scopes).to.deep.equal(['read']);
    },
  });

  deviation('that answers 200 to what failed (TikTok, Zoho)', {
    behaviour: {
      token: {
        wants: { x: '1' },
        error: () => ({ status: 200, body: { code: 40105, message: 'no', data: { access_token: 'not-a-token' } } }),
        answer: ({ scopes: _scopes, ...tokens }) => ({ body: { code: 0, message: 'OK', data: tokens } }),
      },
    },
    config: {
      extra_token_params: { x: '1' },
      token: { answer: { at: ['/data'], errors: { success: { pointer: '/code', equals: 0 }, code: '/code' } } },
    },
    without: {
      token: { answer: { at: ['/data'], errors: { success: { pointer: '/code', equals: 0 }, code: '/code' } } },
    },
  });

  describe('that responds with a form (GitHub)', () => {
    afterEach(closeAll);

    it('works without a deviation', async () => {
      const server = await startScriptableAs({
        token: {
          answer: ({ access_token }) => ({
            body: `access_token=${access_token}&scope=repo%2Cgist&token_type=bearer`,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          }),
        },
      });
      const granted = grantedBy(await flowOf(server).run(['repo', 'gist']));
      expect(server.isAlive(granted.access)).to.equal(true);
      expect(granted.scopes).to.deep.equal(['repo', 'gist']);
    });
  });

  describe('states the expiry of a token', () => {
    afterEach(closeAll);

    const seconds = AT / 1000 + 3600;
    const cases: [title: string, expires: Record<string, unknown>, answer: object, expiresAt: number | null][] = [
      ['in seconds', { expires_in: 3600 }, {}, AT + 3_600_000],
      ['in milliseconds (Fiserv)', { expires_in: 3_600_000 }, { expires_in_unit: 'milliseconds' }, AT + 3_600_000],
      [
        'as a point in time under another name (Clover)',
        { access_token_expiration: seconds },
        { names: { expires_in: 'access_token_expiration' }, expires_in_unit: 'epoch_seconds' },
        AT + 3_600_000,
      ],
      [
        'in epoch milliseconds, as text',
        { expires_in: `${AT + 1}` },
        { expires_in_unit: 'epoch_milliseconds' },
        AT + 1,
      ],
      ['as a date', { expires_in: new Date(AT + 9000).toISOString() }, { expires_in_unit: 'rfc3339' }, AT + 9000],
      ['not at all, though it ends (Salesforce, Jobber)', {}, { default_life_s: 7200 }, AT + 7_200_000],
      ['not at all, since there is none (Slack)', {}, {}, null],
      ['as a point in the past, which is none', { expires_in: 1 }, { expires_in_unit: 'epoch_seconds' }, null],
      ['as a word, which is none', { expires_in: 'soon' }, { expires_in_unit: 'rfc3339' }, null],
    ];
    for (const [title, expires, answer, expiresAt] of cases) {
      it(title, async () => {
        const server = await startScriptableAs({
          token: { answer: ({ access_token }) => ({ body: { access_token, ...expires } }) },
        });
        const granted = grantedBy(await flowOf(server, { token: { answer } }, atOnce).run());
        expect(granted.expiresAt).to.equal(expiresAt);
      });
    }
  });

  describe('grants fewer scopes than requested (Google)', () => {
    afterEach(closeAll);

    it('and the account has only those', async () => {
      const server = await startScriptableAs({
        token: { answer: ({ access_token }) => ({ body: { access_token, scope: 'read' } }) },
      });
      expect(grantedBy(await flowOf(server).run(['read', 'write'])).scopes).to.deep.equal(['read']);
    });

    it('and without a scope in the response the requested ones count (RFC 6749 §5.1)', async () => {
      const server = await startScriptableAs({ token: { answer: ({ access_token }) => ({ body: { access_token } }) } });
      expect(grantedBy(await flowOf(server).run(['read', 'write'])).scopes).to.deep.equal(['read', 'write']);
    });
  });

  describe('issues a token for an hour that is exchanged for a long-lived one (Facebook, Instagram, Threads)', () => {
    afterEach(closeAll);

    const exchange = {
      uri: `${AS}/exchange`,
      auth: 'none',
      query: { grant_type: 'th_exchange_token', client_secret: '{{client_secret}}', access_token: '{{access_token}}' },
    } as const;
    const renewal = {
      kind: 'access_token',
      call: {
        uri: `${AS}/renew`,
        auth: 'none',
        query: { grant_type: 'th_refresh_token', access_token: '{{refresh_token}}' },
      },
    } as const;

    async function start() {
      return startScriptableAs({
        refresh: { kind: 'none' },
        routes: {
          'GET /exchange': ({ query }, server) => {
            const token = query.get('access_token') ?? '';
            if (!server.isAlive(token) || query.get('client_secret') !== 'p+w:secret~/=') return { status: 400 };
            server.kill(token);
            return { body: { access_token: server.issue([], false).access_token, expires_in: 5_184_000 } };
          },
          'GET /renew': ({ query }, server) => {
            const token = query.get('access_token') ?? '';
            if (!server.isAlive(token)) return { status: 400, body: { error: { code: 190, type: 'OAuthException' } } };
            return { body: { access_token: server.issue([], false).access_token, expires_in: 5_184_000 } };
          },
        },
      });
    }

    it('is refused without the deviation', async () => {
      const server = await start();
      const granted = grantedBy(await flowOf(server).run());
      expect(granted).to.include({ refresh: null });
      expect(granted.expiresAt).to.be.lessThan(Date.now() + 2 * 3_600_000);
    });

    it('returns no token when the exchange is refused', async () => {
      const server = await start();
      const query = { access_token: '{{access_token}}', client_secret: 'wrong' };
      const outcome = await flowOf(server, { exchange: { ...exchange, query } }).run();
      expect(outcome).to.include({ ok: false, kind: 'unavailable', reason: 'invalid_response' });
    });

    it('succeeds with the deviation, and the access token is used to renew itself', async () => {
      const server = await start();
      const flow = flowOf(server, { exchange, refresh: renewal }, atOnce);
      const outcome = await flow.run();
      const granted = grantedBy(outcome);
      expect(granted.expiresAt).to.equal(AT + 5_184_000_000);
      expect(granted.refresh).to.equal(granted.access);
      const renewed = grantedBy(await flow.refresh(outcome.ok ? outcome.tokens.refreshToken : null));
      expect(renewed.refresh).to.equal(renewed.access).not.to.equal(granted.access);
      expect(server.isAlive(renewed.access)).to.equal(true);
      expect(await flow.refresh(null)).to.include({ ok: false });
    });
  });
});
