import { expect } from 'chai';
import { flowOf } from '../../support/oauth-flow.ts';
import { AS, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';
import { deviation } from './deviations.ts';

describe('An authorization endpoint', () => {
  describe('that follows the standard', () => {
    afterEach(closeAll);

    it('works with a configuration without deviations', async () => {
      const server = await startScriptableAs();
      const outcome = await flowOf(server).run(['read', 'write']);
      expect(outcome).to.deep.include({ ok: true });
    });

    it('refuses a request without PKCE, with an unknown parameter, an empty scope or another client', async () => {
      const server = await startScriptableAs();
      const begun = await flowOf(server).begin();
      if (!begun.ok) throw new Error(begun.message);
      const spoilt = (change: (query: URLSearchParams) => void) => {
        const url = new URL(begun.url);
        change(url.searchParams);
        return server.consent(url.href);
      };
      expect(server.consent(begun.url)).to.have.property('callback');
      expect(spoilt((query) => query.delete('code_challenge_method'))).to.have.property('refused');
      expect(spoilt((query) => query.append('foo', 'bar'))).to.have.property('refused');
      expect(spoilt((query) => query.set('scope', ''))).to.have.property('refused');
      expect(spoilt((query) => query.set('client_id', 'other'))).to.have.property('refused');
    });
  });

  deviation('that refuses proof keys (LinkedIn)', {
    behaviour: { authorize: { pkce: 'refused' } },
    config: { pkce: 'none' },
  });

  deviation('that separates scopes by commas (Slack, Linear, Strava)', {
    behaviour: { authorize: { scopes: { separator: ',' } } },
    config: { scope_separator: ',' },
    scopes: ['read', 'write'],
    check: ({ granted }) => expect(granted.scopes).to.deep.equal(['read', 'write']),
  });

  describe('that expects a literal plus sign between scopes (Workable)', () => {
    afterEach(closeAll);

    it('receives it, and others receive an encoded space', async () => {
      const server = await startScriptableAs();
      const plus = await flowOf(server, { scope_separator: '+' }).begin(['a', 'b']);
      const space = await flowOf(server).begin(['a', 'b']);
      expect(plus.ok && plus.url).to.match(/[?&]scope=a\+b(&|$)/);
      expect(space.ok && space.url).to.match(/[?&]scope=a%20b(&|$)/);
    });
  });

  deviation('that takes the scopes of users in a second parameter (Slack)', {
    behaviour: {
      authorize: {
        scopes: {
          separator: ',',
          parameters: ['scope', 'user_scope'],
          known: ['chat:write', 'search:read', 'users:read'],
        },
      },
    },
    config: { scope_separator: ',', authorization: { scope_parameters: { user_scope: 'user_scope:' } } },
    without: { scope_separator: ',' },
    scopes: ['chat:write', 'users:read', 'user_scope:chat:write'],
    check: async ({ server, flow }) => {
      const begun = await flow.begin(['chat:write', 'user_scope:chat:write', 'user_scope:search:read']);
      const query = new URL(begun.ok ? begun.url : '').searchParams;
      expect(query.get('scope')).to.equal('chat:write');
      expect(query.get('user_scope')).to.equal('chat:write,search:read');
      expect(server.consent(begun.ok ? begun.url : '')).to.have.property('callback');
      const userOnly = await flow.begin(['user_scope:search:read']);
      expect(new URL(userOnly.ok ? userOnly.url : '').searchParams.has('scope')).to.equal(false);
    },
  });

  deviation('that calls the client by another name (TikTok)', {
    behaviour: { authorize: { names: { client_id: 'client_key' } } },
    config: { authorization: { names: { client_id: 'client_key' } } },
  });

  deviation('that takes client, address and state alone (ClickUp)', {
    behaviour: { authorize: { refuses: ['response_type', 'scope'], pkce: 'refused' } },
    config: { pkce: 'none', authorization: { omit: ['response_type', 'scope'] } },
    without: { pkce: 'none' },
  });

  deviation('that wants another response type (Follow Up Boss)', {
    behaviour: { authorize: { refuses: [], wants: { response_type: 'auth_code' } } },
    config: {
      authorization: { omit: ['response_type'] },
      extra_authorize_params: { response_type: 'auth_code' },
    },
  });

  deviation('that has its own switch for refresh tokens (Google, Dropbox, Reddit, Zoho)', {
    behaviour: { authorize: { wants: { access_type: 'offline', prompt: 'consent' } } },
    config: { extra_authorize_params: { access_type: 'offline', prompt: 'consent' } },
  });

  deviation('that wants an audience with a value of the account (SMART, Auth0)', {
    behaviour: { authorize: { wants: { aud: 'https://ehr.example/fhir/R4' } } },
    config: { extra_authorize_params: { aud: '{{fhir_base_url}}' } },
    options: { inputs: { fhir_base_url: 'https://ehr.example/fhir/R4' } },
  });

  deviation('that wants to know the resource (RFC 8707)', {
    behaviour: {
      authorize: { wants: { resource: 'https://mcp.example/mcp' } },
      token: { wants: { resource: 'https://mcp.example/mcp' } },
    },
    config: { resource: 'https://mcp.example/mcp' },
    check: async ({ flow }) => {
      const outcome = await flow.run();
      if (!outcome.ok) throw new Error(outcome.message);
      expect(await flow.refresh(outcome.tokens.refreshToken)).to.include({ ok: true });
    },
  });

  deviation('that serves pushed requests alone (RFC 9126)', {
    behaviour: { authorize: { pushed: true } },
    config: { authorization: { pushed_uri: `${AS}/par` } },
    check: async ({ flow }) => {
      const begun = await flow.begin();
      const query = new URL(begun.ok ? begun.url : '').searchParams;
      expect([...query.keys()]).to.deep.equal(['client_id', 'request_uri']);
    },
  });

  deviation('whose callback has the code under another name (TikTok Business, Amazon)', {
    behaviour: { authorize: { callback: { names: { code: 'auth_code' } } } },
    config: { authorization: { callback_names: { code: 'auth_code' } } },
  });

  deviation('whose callback has the state under another name (Crisp)', {
    behaviour: { authorize: { callback: { names: { state: 'payload' } } } },
    config: { authorization: { callback_names: { state: 'payload' } } },
  });

  describe('for every pattern', () => {
    afterEach(closeAll);

    it('receives the parameters of the protocol as the standard defines them', async () => {
      const server = await startScriptableAs();
      const stolen = 'https://evil.example';
      const extra = { redirect_uri: stolen, state: 'x', client_id: 'x', code_challenge: 'x', response_type: 'token' };
      const flow = flowOf(server, {
        extra_authorize_params: { ...extra, request_uri: stolen, nonce: 'x', scope: 'x' },
      });
      expect(await flow.run()).to.include({ ok: true });
    });

    it('keeps the query of its address', async () => {
      const server = await startScriptableAs({ authorize: { wants: { tenant: 'a' } } });
      const flow = flowOf(server, { authorize_uri: `${AS}/authorize?tenant=a` });
      expect(await flow.run()).to.include({ ok: true });
    });

    it('receives no scope parameter if no scope is requested', async () => {
      const server = await startScriptableAs();
      expect(await flowOf(server).run([])).to.include({ ok: true });
    });
  });
});
