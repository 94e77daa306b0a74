import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import type { KeptAuthorization } from '../../../core/oauth/authorization-request.ts';
import { beginAuthorization } from '../../../core/oauth/begin-authorization.ts';
import { type Finished, finishAuthorization } from '../../../core/oauth/grants/authorization-code.ts';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';
import { Secret } from '../../../core/secret.ts';

const ISSUER = 'https://as.example';
const CLIENT = { clientId: 'app', method: 'client_secret_basic', secret: new Secret('s3cret') } as const;
const PATTERN: AuthPattern = {
  type: 'OAUTH',
  oauth_config: { authorize_uri: `${ISSUER}/authorize`, token_uri: `${ISSUER}/token`, issuer: ISSUER },
};
const METADATA = { issuer: ISSUER, authorization_response_iss_parameter_supported: true };

/** Starts a flow; each test supplies its own callback. */
async function begun(pattern = PATTERN, metadata: typeof METADATA | null = METADATA) {
  const sent: string[] = [];
  const fetchFor = () => async (url: string | URL, init?: RequestInit) => {
    sent.push(`${url} ${init?.body}`);
    return Response.json({ access_token: 'at', token_type: 'Bearer' });
  };
  const provider = oauthProviderOf(pattern, {}, { metadata: metadata ?? undefined });
  const common = { provider, client: CLIENT, fetchFor, now: Date.now };
  const start = await beginAuthorization({
    ...common,
    redirectUri: 'https://valetkey.example/cb',
    scopes: ['read'],
    random: randomBytes,
  });
  if (!start.ok) throw new Error(start.message);
  const { kept, url } = start;
  const finish = (parameters: Record<string, string> | URLSearchParams, other: Partial<KeptAuthorization> = {}) =>
    finishAuthorization({ ...common, parameters: new URLSearchParams(parameters), kept: { ...kept, ...other } });
  return { sent, kept, url, finish, common };
}

describe('An authorization request (RFC 6749 §4.1.1)', () => {
  it('has a new state, verifier and challenge each time, of 256 bits (L8)', async () => {
    const flows = await Promise.all(Array.from({ length: 50 }, () => begun()));
    const states = new Set(flows.map(({ kept }) => kept.state));
    const verifiers = new Set(flows.map(({ kept }) => kept.codeVerifier));
    expect([states.size, verifiers.size]).to.deep.equal([50, 50]);
    for (const { kept, url } of flows) {
      expect(kept.state).to.match(/^[\w-]{43}$/);
      expect(kept.codeVerifier).to.match(/^[\w-]{43}$/);
      const query = new URL(url).searchParams;
      expect(query.get('state')).to.equal(kept.state);
      expect(query.get('code_challenge_method')).to.equal('S256');
      expect(url).not.to.contain(kept.codeVerifier);
    }
  });

  describe('is not created for a server', () => {
    const cases: [title: string, more: object, message: RegExp][] = [
      ['that wants it signed (RFC 9101)', { require_signed_request_object: true }, /signed/],
      ['that wants it pushed and does not say where', { require_pushed_authorization_requests: true }, /pushed/],
    ];
    for (const [title, more, message] of cases) {
      it(title, async () => {
        const refused = await begun(PATTERN, { ...METADATA, ...more }).catch((error: Error) => error);
        expect(String(refused)).to.match(message);
      });
    }

    it('that has no authorization endpoint', async () => {
      const oauth_config = { ...PATTERN.oauth_config, authorize_uri: undefined };
      const refused = await begun({ ...PATTERN, oauth_config }).catch((error: Error) => error);
      expect(String(refused)).to.match(/no authorize_uri/);
    });
  });

  it('keeps the slash at the end of an issuer, which is part of its name', async () => {
    const issuer = `${ISSUER}/`;
    const { kept } = await begun({ ...PATTERN, oauth_config: { ...PATTERN.oauth_config, issuer } }, null);
    expect(kept.issuer).to.equal(issuer);
  });

  it('is not created for a server that supports only plain PKCE (RFC 9700 §2.1.1)', async () => {
    const metadata = { ...METADATA, code_challenge_methods_supported: ['plain'] };
    const refused = await begun(PATTERN, metadata).catch((error: Error) => error);
    expect(String(refused)).to.match(/PKCE/);
    const supported: AuthPattern = { ...PATTERN, oauth_config: { ...PATTERN.oauth_config, pkce: 'supported' } };
    const { url, kept } = await begun(supported, metadata);
    expect(new URL(url).searchParams.has('code_challenge')).to.equal(false);
    expect(kept.codeVerifier).to.equal(null);
  });
});

describe('A callback', () => {
  const good = (kept: KeptAuthorization) => ({ code: 'c-1', state: kept.state, iss: ISSUER });

  it('redeems the code of this flow, once, with its verifier (RFC 7636 §4.5)', async () => {
    const { kept, finish, sent } = await begun();
    expect(await finish(good(kept))).to.include({ ok: true });
    expect(sent).to.have.length(1);
    expect(sent[0]).to.contain(`code_verifier=${kept.codeVerifier}`).and.contain('code=c-1');
  });

  describe('sends no code', () => {
    type Change = (good: Record<string, string>) => Record<string, string> | URLSearchParams;
    const cases: [title: string, change: Change, kind: string][] = [
      ['without a state', ({ state: _, ...rest }) => rest, 'state_mismatch'],
      ['with an empty state', (good) => ({ ...good, state: '' }), 'state_mismatch'],
      ['with the state of another flow (L8)', (good) => ({ ...good, state: 'x'.repeat(43) }), 'state_mismatch'],
      [
        'with two states',
        (good) => new URLSearchParams([...Object.entries(good), ['state', good['state'] ?? '']]),
        'state_mismatch',
      ],
      ['of another issuer (L9)', (good) => ({ ...good, iss: 'https://evil.example' }), 'issuer_mismatch'],
      ['of an issuer with a slash more (RFC 9207 §2.4)', (good) => ({ ...good, iss: `${ISSUER}/` }), 'issuer_mismatch'],
      ['of an issuer in capitals', (good) => ({ ...good, iss: 'https://AS.example' }), 'issuer_mismatch'],
      ['of an empty issuer', (good) => ({ ...good, iss: '' }), 'issuer_mismatch'],
      ['without the issuer that was promised', ({ iss: _, ...rest }) => rest, 'issuer_mismatch'],
      ['of two issuers', (good) => new URLSearchParams([...Object.entries(good), ['iss', ISSUER]]), 'issuer_mismatch'],
      [
        'with an error of another issuer (L9)',
        ({ code: _, ...rest }) => ({ ...rest, error: 'access_denied', iss: 'https://evil.example' }),
        'issuer_mismatch',
      ],
      ['with an error and no state (L13)', () => ({ error: 'access_denied', iss: ISSUER }), 'state_mismatch'],
      ['with a refusal', ({ code: _, ...rest }) => ({ ...rest, error: 'access_denied' }), 'denied'],
      [
        'with a refusal in other words',
        ({ code: _, ...rest }) => ({ ...rest, error: 'user_cancelled_login' }),
        'denied',
      ],
      ['with an error', ({ code: _, ...rest }) => ({ ...rest, error: 'server_error' }), 'provider_error'],
      ['with an error beside a code', (good) => ({ ...good, error: 'x' }), 'provider_error'],
      ['without a code', ({ code: _, ...rest }) => rest, 'no_code'],
      ['with two codes', (good) => new URLSearchParams([...Object.entries(good), ['code', 'c-2']]), 'no_code'],
    ];
    for (const [title, change, kind] of cases) {
      it(title, async () => {
        const { kept, finish, sent } = await begun();
        expect(await finish(change(good(kept)))).to.include({ ok: false, kind });
        expect(sent).to.deep.equal([]);
      });
    }

    it('when the client or the server of the connection was changed meanwhile (L9, L10)', async () => {
      const { kept, finish, sent } = await begun();
      for (const other of [
        { clientId: 'other' },
        { tokenEndpoint: 'https://evil.example/token' },
        { issuer: 'https://evil.example' },
      ]) {
        expect(await finish(good(kept), other)).to.include({ ok: false, kind: 'changed' });
      }
      expect(sent).to.deep.equal([]);
    });
  });

  it('is checked against the metadata stored when the flow began, even if the server is unavailable now', async () => {
    const { kept, finish } = await begun(PATTERN, null);
    const answer = { code: 'c-1', state: kept.state };
    expect(await finish(answer, { issuerIsSent: true })).to.include({ ok: false, kind: 'issuer_mismatch' });
    expect(await finish(answer)).to.include({ ok: true });
  });

  it("is accepted with any issuer if the server's issuer is unknown", async () => {
    const { issuer: _, ...oauth_config } = PATTERN.oauth_config ?? {};
    const { kept, finish } = await begun({ ...PATTERN, oauth_config }, null);
    expect(kept.issuer).to.equal(null);
    expect(await finish({ code: 'c', state: kept.state, iss: 'https://as.example/x' })).to.include({ ok: true });
  });

  it('contributes no text to a message (L13)', async () => {
    const { kept, finish } = await begun();
    const hostile = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('<script>', '__proto__', 'toString'));
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const outcome = await finish({ state: kept.state, iss: ISSUER, error: text, error_description: text });
        expect(outcome).to.include({ ok: false });
        expect(sentences(outcome)).to.match(/^[A-Z][\w ,.'-]+\.$/);
      }),
      { numRuns: 200 },
    );
  });
});

function sentences(outcome: Finished): string {
  return outcome.ok ? '' : outcome.message;
}
