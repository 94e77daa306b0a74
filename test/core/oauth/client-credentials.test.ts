import { expect } from 'chai';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { clientCredentialsGrant } from '../../../core/oauth/grants/client-credentials.ts';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';
import { Secret } from '../../../core/secret.ts';

const AT = 1_750_000_000_000;

async function ask(config: OAuthConfig, options: { scopes?: string[]; answer?: Response; inputs?: object } = {}) {
  const sent: Record<string, string>[] = [];
  const { scopes = [], answer = Response.json({ access_token: 'at', expires_in: 60 }), inputs = {} } = options;
  const oauth_config = { token_uri: 'https://{{tenant}}.as.example/token', ...config };
  const outcome = await clientCredentialsGrant({
    provider: oauthProviderOf({ type: 'OAUTH_M2M', oauth_config }, { tenant: 't1', ...inputs }),
    client: { clientId: 'app', method: 'client_secret_post', secret: new Secret('s3cret') },
    scopes,
    fetchFor: (origins) => async (url, init) => {
      expect(origins).to.deep.equal(['https://t1.as.example']);
      sent.push({ url: String(url), ...Object.fromEntries(new URLSearchParams(String(init?.body))) });
      return answer;
    },
    now: () => AT,
  });
  return { outcome, sent: sent[0] };
}

const CLIENT = { client_id: 'app', client_secret: 's3cret' };
const URL_T1 = 'https://t1.as.example/token';

describe('The client credentials grant (RFC 6749 §4.4)', () => {
  it('requests the scopes of the connection, and sends no scope if it has none', async () => {
    const grant = { url: URL_T1, ...CLIENT, grant_type: 'client_credentials' };
    expect((await ask({})).sent).to.deep.equal(grant);
    expect((await ask({}, { scopes: ['a', 'b'] })).sent).to.deep.equal({ ...grant, scope: 'a b' });
    expect((await ask({ scope_separator: ',' }, { scopes: ['a', 'b'] })).sent).to.deep.equal({
      ...grant,
      scope: 'a,b',
    });
  });

  it('sends the audience (Auth0), the resource (RFC 8707), and the subject (Box), with values of the account', async () => {
    const config = {
      resource: 'https://api.example/',
      extra_token_params: { audience: 'https://{{tenant}}.example/api/', box_subject_id: '{{enterprise}}' },
    };
    expect((await ask(config, { inputs: { enterprise: '42' } })).sent).to.include({
      audience: 'https://t1.example/api/',
      box_subject_id: '42',
      resource: 'https://api.example/',
    });
    const { outcome, sent } = await ask(config);
    const message = 'The account has no value for enterprise, which its provider requires.';
    expect(outcome).to.deep.include({ ok: false, kind: 'client', message });
    expect(sent).to.equal(undefined);
  });

  it('can have another name (Zoom)', async () => {
    const config: OAuthConfig = { token: { grant_types: { client_credentials: 'account_credentials' } } };
    expect((await ask(config)).sent).to.include({ grant_type: 'account_credentials' });
  });

  it('returns a token with an expiry, and never a refresh token (§4.4.3)', async () => {
    const answer = Response.json({ access_token: 'at', refresh_token: 'rt', expires_in: 60, scope: 'a' });
    const { outcome } = await ask({}, { answer });
    if (!outcome.ok) throw new Error(outcome.message);
    expect(outcome.tokens).to.deep.include({ refreshToken: null, expiresAt: AT + 60_000, scopes: ['a'] });
  });

  it('does not end the grant when it fails', async () => {
    const answers: [Response, string][] = [
      [Response.json({ error: 'invalid_client' }, { status: 401 }), 'client'],
      [Response.json({ error: 'invalid_grant' }, { status: 400 }), 'client'],
      [Response.json({ error: 'access_denied' }, { status: 403 }), 'client'],
      [Response.json({}, { status: 503 }), 'unavailable'],
    ];
    for (const [answer, kind] of answers) expect((await ask({}, { answer })).outcome).to.include({ ok: false, kind });
  });
});
