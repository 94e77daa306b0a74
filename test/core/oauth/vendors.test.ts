import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import { readAccountFacts } from '../../../core/oauth/account-facts.ts';
import { beginAuthorization } from '../../../core/oauth/begin-authorization.ts';
import { finishAuthorization, type Granted } from '../../../core/oauth/grants/authorization-code.ts';
import { refreshTokenGrant } from '../../../core/oauth/grants/refresh-token.ts';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';
import { revokeTokens } from '../../../core/oauth/revocation.ts';
import { tokenServerAt } from '../../../core/oauth/server.ts';
import { Secret } from '../../../core/secret.ts';
import { readCatalogueJson } from '../../support/catalogue-json.ts';
import { type EmulatedOAuth, type EmulatedOAuthOptions, startEmulatedOAuth } from '../../support/emulated-oauth.ts';
import { grantedBy } from '../../support/oauth-flow.ts';
import { closeAll } from '../net/local.ts';

const REDIRECT_URI = 'https://valetkey.example/oauth/callback/conn_1';
const CLIENT_ID = '12345.67890-app';
const SECRET = 'a-client.secret';
const APP = { client_id: CLIENT_ID, client_secret: SECRET, name: 'Valetkey', redirect_uris: [REDIRECT_URI] };

const { connectors } = readCatalogueJson();

interface Vendor {
  connector: string;
  emulator: EmulatedOAuthOptions;
  /**
   * The user who is selected on the vendor's page. It is not the first seeded user, because the emulator treats an
   * unknown token as that of the first one.
   */
  person: string;
  scopes: string[];
  identifier: string;
  /** Whether the vendor checks proof keys. */
  checksVerifier: boolean;
  refreshes: 'rotating' | 'static' | 'none';
  revocation: 'revoked' | 'not_revocable';
}

const basic = `Basic ${Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64')}`;

const VENDORS: Vendor[] = [
  {
    connector: 'github',
    emulator: {
      service: 'github',
      seed: { users: [{ login: 'aaa-nobody' }, { login: 'alice', email: 'alice@b.example' }], oauth_apps: [APP] },
      origins: ['https://github.com', 'https://api.github.com'],
      token: '/login/oauth/access_token',
      open: ['/login/oauth/'],
      revoke: {
        [`DELETE /applications/${CLIENT_ID}/token`]: ({ headers, body }) => ({
          token: headers['authorization'] === basic ? JSON.parse(body).access_token : undefined,
          status: 204,
        }),
      },
      denial: { status: 404, body: { message: 'Not Found' } },
    },
    person: 'alice',
    scopes: ['read:user', 'repo'],
    identifier: 'alice',
    checksVerifier: false,
    refreshes: 'none',
    revocation: 'revoked',
  },
  {
    connector: 'slack',
    emulator: {
      service: 'slack',
      seed: { users: [{ name: 'nobody' }, { name: 'alice', email: 'alice@b.example' }], oauth_apps: [APP] },
      origins: ['https://slack.com'],
      token: '/api/oauth.v2.access',
      open: ['/oauth/v2/'],
      revoke: {
        'POST /api/auth.revoke': ({ headers }) => ({
          token: headers['authorization']?.replace('Bearer ', ''),
          status: 200,
          body: { ok: true, revoked: true },
        }),
      },
      denial: { status: 200, body: { ok: false, error: 'invalid_auth' } },
    },
    person: 'alice',
    scopes: ['chat:write', 'channels:read'],
    identifier: '',
    checksVerifier: false,
    refreshes: 'none',
    revocation: 'revoked',
  },
  {
    connector: 'gmail',
    emulator: {
      service: 'google',
      seed: { users: [{ email: 'nobody@b.example' }, { email: 'alice@b.example' }], oauth_clients: [APP] },
      origins: ['https://accounts.google.com', 'https://oauth2.googleapis.com', 'https://openidconnect.googleapis.com'],
      paths: { '/token': '/oauth2/token', '/revoke': '/oauth2/revoke', '/v1/userinfo': '/oauth2/v2/userinfo' },
      token: '/token',
      open: ['/o/oauth2/', '/revoke'],
    },
    person: 'alice@b.example',
    scopes: ['openid', 'email', 'https://www.googleapis.com/auth/gmail.readonly'],
    identifier: 'alice@b.example',
    checksVerifier: true,
    refreshes: 'static',
    revocation: 'revoked',
  },
  {
    connector: 'outlook',
    emulator: {
      service: 'microsoft',
      seed: { users: [{ email: 'nobody@b.example' }, { email: 'alice@b.example' }], oauth_clients: [APP] },
      origins: ['https://login.microsoftonline.com', 'https://graph.microsoft.com'],
      paths: {
        '/common/oauth2/v2.0/authorize': '/oauth2/v2.0/authorize',
        '/common/oauth2/v2.0/token': '/oauth2/v2.0/token',
      },
      token: '/common/oauth2/v2.0/token',
      open: ['/common/', '/oauth2/v2.0/authorize'],
    },
    person: 'alice@b.example',
    scopes: ['openid', 'offline_access', 'Mail.Read'],
    identifier: 'alice@b.example',
    checksVerifier: true,
    refreshes: 'rotating',
    revocation: 'not_revocable',
  },
  {
    connector: 'linear',
    emulator: {
      service: 'linear',
      seed: {
        users: [{ email: 'nobody@b.example' }, { email: 'alice@b.example', name: 'Alice' }],
        oauth_apps: [{ ...APP, scopes: ['read', 'write'] }],
      },
      origins: ['https://linear.app', 'https://api.linear.app'],
      token: '/oauth/token',
      open: ['/oauth/'],
    },
    person: 'alice@b.example',
    scopes: ['read', 'write'],
    identifier: 'alice@b.example',
    checksVerifier: true,
    refreshes: 'rotating',
    revocation: 'revoked',
  },
];

describe('The connectors at emulated vendors', () => {
  after(closeAll);

  for (const vendor of VENDORS) {
    describe(vendor.connector, () => {
      let emulated: EmulatedOAuth;
      before(async () => {
        emulated = await startEmulatedOAuth(vendor.emulator);
      });
      after(() => emulated.stop());

      const pattern = connectors[vendor.connector]?.auth_patterns.find(({ type }) => type === 'OAUTH') as AuthPattern;
      const provider = oauthProviderOf(pattern, {});
      const method = pattern.oauth_config?.client_auth_method ?? 'client_secret_basic';
      const client = { clientId: CLIENT_ID, method, secret: new Secret(SECRET) };
      const parts = () => ({ provider, client, fetchFor: emulated.fetchFor, now: Date.now });

      async function consented() {
        const { scopes, person } = vendor;
        const begun = await beginAuthorization({ ...parts(), redirectUri: REDIRECT_URI, scopes, random: randomBytes });
        if (!begun.ok) throw new Error(begun.message);
        const { searchParams: parameters } = await emulated.consent(begun.url, person);
        return { kept: begun.kept, parameters };
      }

      async function granted(): Promise<Granted> {
        const outcome = await finishAuthorization({ ...parts(), ...(await consented()) });
        if (!outcome.ok) throw new Error(`${outcome.kind}: ${outcome.message}`);
        return outcome;
      }

      const factsOf = ({ tokens, answer }: Pick<Granted, 'tokens' | 'answer'>) =>
        readAccountFacts({ ...parts(), accessToken: tokens.accessToken, answer, nonce: null });

      it('refuses a wrong secret, and a code that was redeemed before', async () => {
        const { kept, parameters } = await consented();
        const wrong = { ...client, secret: new Secret('wrong') };
        const refused = await finishAuthorization({ ...parts(), client: wrong, kept, parameters });
        expect(refused).to.include({ ok: false, kind: 'client' });
        const fresh = await consented();
        expect(await finishAuthorization({ ...parts(), ...fresh })).to.include({ ok: true });
        expect(await finishAuthorization({ ...parts(), ...fresh })).to.include({ ok: false, kind: 'code_rejected' });
      });

      if (vendor.checksVerifier) {
        it('refuses the verifier of another flow', async () => {
          const { kept, parameters } = await consented();
          const wrong = { ...kept, codeVerifier: randomBytes(32).toString('base64url') };
          const outcome = await finishAuthorization({ ...parts(), kept: wrong, parameters });
          expect(outcome).to.include({ ok: false, kind: 'code_rejected' });
        });
      }

      it('rejects a token that it never issued', async () => {
        const outcome = await granted();
        const forged = { ...outcome.tokens, accessToken: new Secret('never-issued') };
        expect((await factsOf({ ...outcome, tokens: forged })).ok).to.equal(false);
      });

      it('grants the requested scopes, and identifies the account', async () => {
        const outcome = await granted();
        expect(outcome.tokens.scopes).to.have.members(vendor.scopes);
        const facts = await factsOf(outcome);
        if (!facts.ok) throw new Error(facts.message);
        expect(facts.subject).to.match(/^[\w:.@-]{1,80}$/);
        if (vendor.identifier !== '') expect(facts.identifierCandidates).to.include(vendor.identifier);
        // The same user twice gives the same subject.
        expect(await factsOf(await granted())).to.include({ subject: facts.subject });
      });

      it(`gives ${vendor.refreshes === 'none' ? 'no refresh token' : `${vendor.refreshes} refresh tokens`}`, async () => {
        const { tokens } = await granted();
        if (vendor.refreshes === 'none') {
          expect(tokens.refreshToken).to.equal(null);
          return;
        }
        const server = tokenServerAt(provider);
        const fetch = await emulated.fetchFor([server.refresh.endpoint.origin]);
        const refreshToken = tokens.refreshToken as Secret;
        const refresh = () => refreshTokenGrant({ server, client, refreshToken, fetch, now: Date.now });
        const renewed = grantedBy(await refresh());
        expect(emulated.isAlive(renewed.access)).to.equal(true);
        expect(renewed.refresh === null).to.equal(vendor.refreshes === 'static');
        expect((await refresh()).ok).to.equal(vendor.refreshes === 'static');
      });

      it(`has the outcome of a revocation: ${vendor.revocation}`, async () => {
        const { tokens } = await granted();
        const { accessToken, refreshToken } = tokens;
        const fetch = await emulated.fetchFor(vendor.emulator.origins);
        const revoke = () => revokeTokens({ ...parts(), accessToken, refreshToken, fetch });
        expect(emulated.isAlive(accessToken.reveal())).to.equal(true);
        expect(await revoke()).to.deep.equal({ kind: vendor.revocation });
        expect(emulated.isAlive(accessToken.reveal())).to.equal(vendor.revocation !== 'revoked');
        expect(await revoke()).to.deep.equal({ kind: vendor.revocation });
      });
    });
  }
});
