import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { OAuthConfigError } from '../../../core/oauth/config-error.ts';
import type { FetchFor } from '../../../core/oauth/transport.ts';
import { Secret } from '../../../core/secret.ts';
import { readSmartClientKey } from '../../../core/smart-fhir/client-key.ts';
import { discoverSmart, smartConfigurationAddress } from '../../../core/smart-fhir/discovery.ts';
import { launchContextChange, readLaunchContext } from '../../../core/smart-fhir/launch-context.ts';
import { readSmartConfiguration, type SmartUse } from '../../../core/smart-fhir/smart-configuration.ts';
import { rsaPair } from '../../support/rsa-pair.ts';

const BASE = 'https://ehr.example/fhir/r4';
const CONFIGURATION = {
  authorization_endpoint: 'https://ehr.example/auth',
  token_endpoint: 'https://ehr.example/token',
  code_challenge_methods_supported: ['S256'],
  capabilities: ['launch-standalone'],
};

describe('a SMART configuration', () => {
  const read = (changes: object, use: SmartUse = 'launch') =>
    readSmartConfiguration({ ...CONFIGURATION, ...changes }, use, new URL(BASE));

  it('is read without an issuer; the token endpoint is used instead', () => {
    const outcome = read({});
    expect(outcome.ok && outcome.configuration.metadata.issuer).to.equal('https://ehr.example/token');
    const named = read({ issuer: 'https://id.example' });
    expect(named.ok && named.configuration.metadata.issuer).to.equal('https://id.example');
  });

  const unsuitable: [string, object, SmartUse?][] = [
    ['does not offer S256', { code_challenge_methods_supported: ['plain'] }],
    ['offers nothing of the kind', { code_challenge_methods_supported: undefined }],
    ['offers it in a text', { code_challenge_methods_supported: 'S256' }],
    ['has no authorization endpoint', { authorization_endpoint: undefined }],
    ['has no token endpoint', { token_endpoint: undefined }, 'backend'],
    ['has a token endpoint without encryption', { token_endpoint: 'http://ehr.example/token' }, 'backend'],
    ['has a token endpoint on this machine (X11)', { token_endpoint: 'http://127.0.0.1:9000/token' }, 'backend'],
    ['has an issuer on this machine (X11)', { issuer: 'http://127.0.0.1:9000' }],
    ['has an issuer that is not an address', { issuer: 'ehr' }],
    ['has an endpoint with places of ours in it', { token_endpoint: 'https://{{host}}/token' }, 'backend'],
    ['does not say what it can', { capabilities: undefined }, 'backend'],
  ];
  for (const [title, changes, use] of unsuitable) {
    it(`is not suitable when it ${title}`, () => expect(read(changes, use).ok).to.equal(false));
  }

  it('requires neither an authorization endpoint nor PKCE for a backend service', () => {
    const changes = { authorization_endpoint: undefined, code_challenge_methods_supported: undefined };
    expect(read(changes, 'backend').ok).to.equal(true);
  });

  it('is rejected if it is not an object', () => {
    for (const body of [undefined, null, [], 'x', 7])
      expect(readSmartConfiguration(body, 'backend', new URL(BASE)).ok).to.equal(false);
  });

  it('is located below the base address, which must be an https address without a query', () => {
    const address = 'https://ehr.example/fhir/r4/.well-known/smart-configuration';
    expect(smartConfigurationAddress(BASE).href).to.equal(address);
    expect(smartConfigurationAddress(`${BASE}/`).href).to.equal(address);
    expect(smartConfigurationAddress('https://ehr.example').pathname).to.equal('/.well-known/smart-configuration');
    for (const base of [
      '',
      'ehr.example',
      'http://ehr.example/r4',
      `${BASE}?x`,
      `${BASE}#x`,
      'https://a@ehr.example',
      'https://{{x}}/r4',
    ]) {
      expect(() => smartConfigurationAddress(base), base).to.throw(OAuthConfigError);
    }
  });
});

describe('requesting a SMART configuration', () => {
  async function discovered(status: number, body: string, headers: Record<string, string> = {}) {
    const asked: unknown[] = [];
    const fetchFor: FetchFor = (origins) => (url, init) => {
      asked.push([origins, String(url), init?.redirect]);
      return Promise.resolve(new Response(body, { status, headers }));
    };
    return { asked, outcome: await discoverSmart({ fhirBase: BASE, use: 'launch', fetchFor, now: () => 0 }) };
  }

  it('connects only to the origin of the base address, and follows no redirect', async () => {
    const { asked, outcome } = await discovered(200, JSON.stringify(CONFIGURATION));
    expect(outcome.ok).to.equal(true);
    expect(asked).to.deep.equal([[['https://ehr.example'], `${BASE}/.well-known/smart-configuration`, 'manual']]);
  });

  const cases: [string, number, string, object][] = [
    ['a server that is none of SMART', 404, '', { kind: 'client' }],
    ['a page', 200, '<h1>Hello</h1>', { kind: 'client' }],
    ['a redirect', 302, '', { kind: 'client' }],
    ['a closed door', 403, '{}', { kind: 'client' }],
    ['an unsuitable one', 200, '{}', { kind: 'client' }],
    ['a failure', 503, '', { kind: 'unavailable', reason: 'server_error', mayBeSpent: false }],
    ['too many requests', 429, '', { kind: 'unavailable', reason: 'rate_limited' }],
  ];
  for (const [title, status, body, expected] of cases) {
    it(`classifies ${title}`, async () =>
      expect((await discovered(status, body)).outcome).to.include({ ok: false, ...expected }));
  }

  it('reports why the request failed, and sends nothing for an invalid base address', async () => {
    const failing: FetchFor = () => () =>
      Promise.reject(Object.assign(new Error('It is not public.'), { kind: 'blocked', sent: false }));
    const request = { fhirBase: BASE, use: 'launch', fetchFor: failing, now: () => 0 } as const;
    expect(await discoverSmart(request)).to.include({ kind: 'unavailable', reason: 'blocked', mayBeSpent: false });
    expect(await discoverSmart({ ...request, fhirBase: 'http://10.0.0.1/' })).to.include({ ok: false, kind: 'client' });
  });
});

describe('a launch context', () => {
  it('uses the names of the API configuration', () => {
    const answer = {
      access_token: 'at',
      patient: '123',
      encounter: 'e.1-2',
      fhirContext: [{ reference: 'ImagingStudy/9' }, { reference: 'List/1', role: 'https://x.example/role' }],
      need_patient_banner: true,
      smart_style_url: 'https://ehr.example/style.json',
      intent: 'reconcile-medications',
      tenant: 'acme',
    };
    expect(readLaunchContext(answer)).to.deep.equal({
      patient: '123',
      encounter: 'e.1-2',
      fhir_context: [{ reference: 'ImagingStudy/9' }, { reference: 'List/1', role: 'https://x.example/role' }],
      need_patient_banner: true,
      smart_style_url: 'https://ehr.example/style.json',
      intent: 'reconcile-medications',
      tenant: 'acme',
    });
    expect(readLaunchContext({ need_patient_banner: 'false' })).to.deep.equal({ need_patient_banner: false });
  });

  const untrusted: [string, object][] = [
    ['a path as patient', { patient: '../Practitioner/1' }],
    ['a query as patient', { patient: '1?x=y' }],
    ['a number as patient', { patient: 1 }],
    ['an empty patient', { patient: '' }],
    ['a long patient', { patient: 'x'.repeat(65) }],
    ['a list of encounters', { encounter: ['e'] }],
    ['a style without encryption', { smart_style_url: 'http://ehr.example/style.json' }],
    ['a style that is a script', { smart_style_url: 'javascript:alert(1)' }],
    ['a style with a password', { smart_style_url: 'https://a:b@ehr.example/' }],
    ['a banner that is no answer', { need_patient_banner: 'maybe' }],
    ['an intent of several lines', { intent: 'a\nb' }],
    ['a context that leads elsewhere', { fhirContext: [{ reference: 'https://evil.example/Patient/1' }, 7] }],
    ['a context without end', { fhirContext: Array(21).fill({ reference: 'List/1' }) }],
  ];
  for (const [title, answer] of untrusted) {
    it(`omits ${title}`, () => expect(readLaunchContext(answer)).to.deep.equal({}));
  }

  it('is empty for a value that is not a response', () => {
    for (const answer of [undefined, null, [], 'x', 7]) expect(readLaunchContext(answer)).to.deep.equal({});
  });

  it('omits values that could change the structure of an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { patient } = readLaunchContext({ patient: text });
        if (patient !== undefined) expect(encodeURIComponent(patient)).to.equal(text);
      }),
    );
  });

  it('replaces the previous one as a whole', () => {
    expect(launchContextChange({ patient: '42' })).to.deep.equal({
      patient: '42',
      encounter: null,
      fhir_context: null,
      need_patient_banner: null,
      smart_style_url: null,
      intent: null,
      tenant: null,
    });
    expect(launchContextChange({ need_patient_banner: false }).need_patient_banner).to.equal(false);
  });
});

describe('the private key of a client of FHIR servers', () => {
  const rsa = rsaPair('client').privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;

  it('is read from PEM and JWK, signs as SMART requires, and has a key id', () => {
    for (const [key, alg, kty] of [
      [rsa, 'RS384', 'RSA'],
      [ec, 'ES384', 'EC'],
    ] as const) {
      const fromPem = readSmartClientKey(new Secret(key.export({ type: 'pkcs8', format: 'pem' }) as string));
      const fromJwk = readSmartClientKey(new Secret(JSON.stringify(key.export({ format: 'jwk' }))));
      expect(fromPem.publicJwk).to.include({ alg, kty, use: 'sig' });
      expect(fromPem.publicJwk['kid']).to.match(/^[\w-]{43}$/);
      expect(fromJwk.publicJwk).to.deep.equal(fromPem.publicJwk);
      expect(fromPem.publicJwk).not.to.have.any.keys('d', 'p', 'q', 'dp', 'dq', 'qi');
      expect(JSON.parse(fromPem.secret.reveal())).to.include({ alg, kty, kid: fromPem.publicJwk['kid'] });
    }
  });

  it('keeps its key id, and signs as SMART requires regardless of its algorithm', () => {
    const given = { ...rsa.export({ format: 'jwk' }), kid: 'key-7', alg: 'RS256' };
    expect(readSmartClientKey(new Secret(JSON.stringify(given))).publicJwk).to.include({ kid: 'key-7', alg: 'RS384' });
  });

  it('has the key id that RFC 7638 computes', () => {
    const jwk = {
      kty: 'EC',
      crv: 'P-384',
      x: 'wcE8O55ro6aOuTf5Ty1k_IG4mTcuLiVercHouge1G5Ri-leevhev4uJzlHpi3U8r',
      y: 'mLRgz8Giu6XA_AqG8bywqbygShmd8jowflrdx0KQtM5X4s4aqDeCRfcpexykp3aI',
      d: 'WcrTiYk8jbI-Sd1sKNpqGmELWGG08bf_y9SSlnC4cpAl5GRdHHN9gKYlPvMFqiJ5',
    };
    const { publicJwk } = readSmartClientKey(new Secret(JSON.stringify(jwk)));
    expect(publicJwk['kid']).to.equal('UK3_0t7muUSeNsykQeSSSWYSiIeffYpv9ahyRf5GDfk');
  });

  it('is refused if it is another kind of key, with an error that quotes nothing', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
    const wrong = [
      ...[short, other].map((key) => String(key.export({ type: 'pkcs8', format: 'pem' }))),
      JSON.stringify(publicKey.export({ format: 'jwk' })),
      'secret',
      '{"kty":"RSA"}',
      '{',
      '',
    ];
    for (const text of wrong) {
      let thrown: unknown;
      try {
        readSmartClientKey(new Secret(text));
      } catch (error) {
        thrown = error;
      }
      expect(thrown).to.be.instanceOf(OAuthConfigError);
      expect((thrown as Error).cause).to.equal(undefined);
      expect(inspect(thrown)).not.to.match(/BEGIN|MII|"kty"/);
    }
  });
});
