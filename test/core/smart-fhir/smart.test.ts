import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { expect } from 'chai';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import { beginAuthorization, type StartedAuthorization } from '../../../core/oauth/begin-authorization.ts';
import type { ClientCredentials } from '../../../core/oauth/client-auth.ts';
import { finishAuthorization } from '../../../core/oauth/grants/authorization-code.ts';
import { clientCredentialsGrant } from '../../../core/oauth/grants/client-credentials.ts';
import type { OAuthProvider } from '../../../core/oauth/provider.ts';
import type { TokenOutcome } from '../../../core/oauth/refresh-outcome.ts';
import { Secret } from '../../../core/secret.ts';
import { readSmartClientKey } from '../../../core/smart-fhir/client-key.ts';
import { discoverSmart } from '../../../core/smart-fhir/discovery.ts';
import { readLaunchContext } from '../../../core/smart-fhir/launch-context.ts';
import type { SmartConfiguration, SmartUse } from '../../../core/smart-fhir/smart-configuration.ts';
import { smartProviderOf } from '../../../core/smart-fhir/smart-provider.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { closeAll } from '../net/local.ts';
import { CALLBACK, FHIR_BASE, HOST, type RecordSystem, startRecordSystem, TOKEN_ENDPOINT } from './record-system.ts';

const PATTERN: AuthPattern = { type: 'SMART_FHIR' };
const SCOPES = ['openid', 'fhirUser', 'launch/patient', 'patient/Patient.rs'];
const PERSONAL: ClientCredentials = { clientId: 'app', method: 'none', secret: null };

function pemOf(key: { export(options: { type: 'pkcs8'; format: 'pem' }): string | Buffer }): Secret {
  return new Secret(String(key.export({ type: 'pkcs8', format: 'pem' })));
}

describe('SMART on FHIR at an electronic health record', () => {
  const rsa = readSmartClientKey(pemOf(rsaPair('client').privateKey));
  const ec = readSmartClientKey(pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey));
  let system: RecordSystem;

  before(async () => {
    const backend = {
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'private_key_jwt',
      scope: 'system/Patient.rs',
    };
    system = await startRecordSystem([
      {
        client_id: 'app',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [CALLBACK],
      },
      {
        client_id: 'service-rsa',
        jwks: { keys: [rsa.publicJwk] },
        token_endpoint_auth_signing_alg: 'RS384',
        ...backend,
      },
      { client_id: 'service-ec', jwks: { keys: [ec.publicJwk] }, token_endpoint_auth_signing_alg: 'ES384', ...backend },
    ]);
  });
  after(closeAll);

  async function configuration(use: SmartUse = 'launch'): Promise<SmartConfiguration> {
    const discovered = await discoverSmart({ fhirBase: FHIR_BASE, use, fetchFor: system.fetchFor, now: Date.now });
    if (!discovered.ok) throw new Error(discovered.message);
    return discovered.configuration;
  }

  async function providerFor(fhirBase = FHIR_BASE): Promise<OAuthProvider> {
    return smartProviderOf(PATTERN, { fhir_base_url: FHIR_BASE }, await configuration(), fhirBase);
  }

  async function begin(
    provider: OAuthProvider,
    scopes: readonly string[] = SCOPES,
  ): Promise<StartedAuthorization & { ok: true }> {
    const { fetchFor } = system;
    const start = {
      provider,
      client: PERSONAL,
      redirectUri: CALLBACK,
      scopes,
      fetchFor,
      now: Date.now,
      random: randomBytes,
    };
    const begun = await beginAuthorization(start);
    if (!begun.ok) throw new Error(begun.message);
    return begun;
  }

  /** Returns the error in the redirect of the record system. Its own error page throws an exception. */
  async function errorAt(address: string): Promise<string | null> {
    return (await system.consent(address)).searchParams.get('error');
  }

  describe('is refused (negative controls)', () => {
    it('without the address of the FHIR server, and with that of another', async () => {
      const { url } = await begin(await providerFor());
      const without = new URL(url);
      without.searchParams.delete('aud');
      expect(await errorAt(without.href)).to.equal('invalid_request');
      for (const fhirBase of [`${FHIR_BASE}/`, HOST, 'https://other.example/fhir']) {
        expect(await errorAt((await begin(await providerFor(fhirBase))).url), fhirBase).to.equal('invalid_request');
      }
    });

    it('without PKCE, and with a verifier that is not hashed', async () => {
      const { url } = await begin(await providerFor());
      const without = new URL(url);
      without.searchParams.delete('code_challenge');
      without.searchParams.delete('code_challenge_method');
      expect(await errorAt(without.href)).to.equal('invalid_request');
      const plain = new URL(url);
      plain.searchParams.set('code_challenge_method', 'plain');
      expect(await errorAt(plain.href)).to.equal('invalid_request');
    });

    it('with the verifier of another flow', async () => {
      const provider = await providerFor();
      const [mine, other] = [await begin(provider), await begin(provider)];
      const { searchParams: parameters } = await system.consent(mine.url);
      const kept = { ...mine.kept, codeVerifier: other.kept.codeVerifier };
      const end = { provider, client: PERSONAL, parameters, kept, fetchFor: system.fetchFor, now: Date.now };
      expect(await finishAuthorization(end)).to.include({ ok: false, kind: 'code_rejected' });
    });

    it('with a token that was never issued', async () => {
      expect(await system.readPatient('42', 'guessed')).to.equal(401);
    });
  });

  async function connect() {
    const provider = await providerFor();
    const begun = await begin(provider);
    const { searchParams: parameters } = await system.consent(begun.url);
    const end = { provider, client: PERSONAL, parameters, kept: begun.kept, fetchFor: system.fetchFor, now: Date.now };
    const finished = await finishAuthorization(end);
    if (!finished.ok) throw new Error(finished.message);
    return { begun, finished, context: readLaunchContext(JSON.parse(finished.answer.reveal())) };
  }

  it('is found by its base address, and its configuration lists its capabilities', async () => {
    const { metadata, capabilities } = await configuration();
    expect(metadata).to.include({
      issuer: HOST,
      token_endpoint: TOKEN_ENDPOINT,
      authorization_endpoint: `${HOST}/auth`,
    });
    expect(capabilities).to.include('launch-ehr');
  });

  it('gives a user access, with the selected patient', async () => {
    const { begun, finished, context } = await connect();
    const asked = new URL(begun.url).searchParams;
    expect(asked.get('aud')).to.equal(FHIR_BASE);
    expect(asked.get('code_challenge_method')).to.equal('S256');
    expect(asked.has('launch')).to.equal(false);
    expect(context).to.deep.equal({ patient: '42', encounter: 'e-1', need_patient_banner: false });
    expect(await system.readPatient(context.patient ?? '', finished.tokens.accessToken.reveal())).to.equal(200);
  });

  describe('as a backend service', () => {
    async function token(changes: Partial<ClientCredentials>, provider?: OAuthProvider): Promise<TokenOutcome> {
      const used = provider ?? smartProviderOf(PATTERN, {}, await configuration('backend'), FHIR_BASE);
      return clientCredentialsGrant({
        provider: used,
        client: { clientId: 'service-rsa', method: 'private_key_jwt', secret: rsa.secret, ...changes },
        scopes: ['system/Patient.rs'],
        fetchFor: system.fetchFor,
        now: Date.now,
      });
    }

    it('is rejected with the key of another client, and with an assertion for another audience than the token endpoint', async () => {
      const stranger = readSmartClientKey(pemOf(rsaPair('stranger').privateKey));
      expect(await token({ secret: stranger.secret })).to.include({ ok: false, kind: 'client' });
      expect(await token({ clientId: 'service-ec' })).to.include({ ok: false, kind: 'client' });
      const provider = smartProviderOf(PATTERN, {}, await configuration('backend'), FHIR_BASE);
      const misled = { ...provider, config: { ...provider.config, token: { assertion_audience: FHIR_BASE } } };
      expect(await token({}, misled)).to.include({ ok: false, kind: 'client' });
    });

    for (const [clientId, key, alg] of [
      ['service-rsa', rsa, 'RS384'],
      ['service-ec', ec, 'ES384'],
    ] as const) {
      it(`gets a token by an assertion signed with ${alg}`, async () => {
        const outcome = await token({ clientId, secret: key.secret });
        if (!outcome.ok) throw new Error(outcome.message);
        expect(outcome.tokens.refreshToken).to.equal(null);
        const [header = '', payload = '', signature = ''] =
          system.tokenRequests.at(-1)?.get('client_assertion')?.split('.') ?? [];
        const { kid } = key.publicJwk;
        expect(JSON.parse(Buffer.from(header, 'base64url').toString())).to.include({ alg, kid });
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
        expect(claims).to.include({ iss: clientId, sub: clientId, aud: TOKEN_ENDPOINT });
        expect(claims.exp - Date.now() / 1000).to.be.within(0, 300);
        expect(claims.jti).to.match(/^[\w-]{20,}$/);
        const verifying = {
          key: createPublicKey({ key: key.publicJwk, format: 'jwk' }),
          dsaEncoding: 'ieee-p1363',
        } as const;
        expect(
          verify('sha384', Buffer.from(`${header}.${payload}`), verifying, Buffer.from(signature, 'base64url')),
        ).to.equal(true);
      });
    }

    it('is refused when the same assertion is sent again', async () => {
      expect((await token({})).ok).to.equal(true);
      const sent = system.tokenRequests.at(-1) ?? new URLSearchParams();
      expect(await system.replay(sent)).to.deep.equal({ status: 401, error: 'invalid_client' });
    });

    it('creates a new assertion each time', async () => {
      await token({});
      await token({});
      const [first, second] = system.tokenRequests.slice(-2).map((form) => form.get('client_assertion'));
      expect(first).not.to.equal(second);
    });
  });
});
