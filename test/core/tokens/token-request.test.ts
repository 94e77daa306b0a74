import { expect } from 'chai';
import fc from 'fast-check';
import { type RawTokenRequest, readTokenRequest } from '../../../core/tokens/token-request.ts';
import { digester } from './support.ts';

const ID = 'cli_a';
const SECRET = 'vks_secret';
const POST = { grant_type: 'client_credentials', client_id: ID, client_secret: SECRET };
const GRANT = { grant_type: 'client_credentials' };
const basic = (pair: string | Buffer, scheme = 'Basic') => `${scheme} ${Buffer.from(pair).toString('base64')}`;
const BASIC = basic(`${ID}:${SECRET}`);

function read(form: Record<string, unknown>, authorizationHeader?: string, query?: Record<string, unknown>) {
  return readTokenRequest({ form, authorizationHeader, ...(query === undefined ? {} : { query }) });
}

function accepted(result: ReturnType<typeof read>) {
  if (!result.ok) throw new Error(`${result.error.error}: ${result.error.description}`);
  const { clientSecret, ...request } = result.request;
  return { ...request, clientSecret: clientSecret.reveal() };
}

describe('a token request', () => {
  const expected = { clientId: ID, clientSecret: SECRET, scope: undefined };

  it('is read with client_secret_post and with client_secret_basic', () => {
    expect(accepted(read(POST))).to.deep.equal({ ...expected, method: 'client_secret_post' });
    expect(accepted(read(GRANT, BASIC))).to.deep.equal({ ...expected, method: 'client_secret_basic' });
  });

  it('keeps the secret masked', () => {
    expect(JSON.stringify(read(POST)))
      .to.include('"clientSecret":"[secret]"')
      .and.not.include(SECRET);
  });

  it('is read with its scopes', () => {
    expect(accepted(read({ ...POST, scope: 'tools:read admin' })).scope).to.deep.equal(['tools:read', 'admin']);
  });

  for (const [name, form, header] of [
    ['an empty scope, which counts as absent', { ...POST, scope: '' }, undefined],
    [
      'unknown parameters, which are ignored (RFC 6749 §3.2)',
      { ...POST, resource: 'https://x.example', foo: 'bar' },
      undefined,
    ],
    ['an empty client_secret beside the header', { ...GRANT, client_secret: '' }, BASIC],
    ['an empty client_assertion', { ...POST, client_assertion: '', client_assertion_type: '' }, undefined],
    ['the client_id beside the header', { ...GRANT, client_id: ID }, BASIC],
    ['the scheme in another case', GRANT, basic(`${ID}:${SECRET}`, 'bASIC')],
    ['two spaces after the scheme', GRANT, BASIC.replace(' ', '  ')],
    ['form-encoded credentials (RFC 6749 §2.3.1)', GRANT, basic('cli%5Fa:vks%5fsecret')],
  ] as const) {
    it(`is accepted with ${name}`, () => {
      expect(accepted(read(form, header))).to.deep.include(expected);
    });
  }

  it('is form-decoded: colons, plus signs and per cent signs in the secret are kept', () => {
    expect(accepted(read(GRANT, basic('cli_a:a+b%2Bc%25d:e'))).clientSecret).to.equal('a b+c%d:e');
  });

  it('returns any credentials of the grammar unchanged', () => {
    const text = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
    });
    fc.assert(
      fc.property(text, text, (id, secret) => {
        const pair = [id, secret].map((part) => new URLSearchParams([['', part]]).toString().slice(1)).join(':');
        const byHeader = accepted(read(GRANT, basic(pair)));
        const byForm = accepted(read({ ...GRANT, client_id: id, client_secret: secret }));
        expect(byHeader).to.deep.include({ clientId: id, clientSecret: secret });
        expect(byForm).to.deep.include({ clientId: id, clientSecret: secret });
      }),
    );
  });
});

describe('a malformed token request (T3)', () => {
  const table: [string, Partial<RawTokenRequest>, string][] = [
    ['nothing at all', {}, 'invalid_client'],
    ['no client authentication', { form: GRANT }, 'invalid_client'],
    ['client_id without a secret', { form: { ...GRANT, client_id: ID } }, 'invalid_client'],
    ['client_secret without an id', { form: { ...GRANT, client_secret: SECRET } }, 'invalid_client'],
    ['an empty client_id', { form: { ...POST, client_id: '' } }, 'invalid_client'],
    ['an empty client_secret', { form: { ...POST, client_secret: '' } }, 'invalid_client'],
    ['a control character in client_id', { form: { ...POST, client_id: 'cli\u0000' } }, 'invalid_client'],
    ['a lone surrogate in client_secret', { form: { ...POST, client_secret: '\ud800' } }, 'invalid_client'],
    ['a client_id of 513 characters', { form: { ...POST, client_id: 'x'.repeat(513) } }, 'invalid_client'],
    ['a megabyte of client_secret', { form: { ...POST, client_secret: 'x'.repeat(1e6) } }, 'invalid_client'],
    ['no grant_type', { form: { client_id: ID, client_secret: SECRET } }, 'invalid_request'],
    ['an empty grant_type', { form: { ...POST, grant_type: '' } }, 'invalid_request'],
    ['grant_type password', { form: { ...POST, grant_type: 'password' } }, 'unsupported_grant_type'],
    ['grant_type refresh_token', { form: { ...POST, grant_type: 'refresh_token' } }, 'unsupported_grant_type'],
    ['grant_type in another case', { form: { ...POST, grant_type: 'Client_Credentials' } }, 'unsupported_grant_type'],
    ['grant_type with a space', { form: { ...POST, grant_type: 'client_credentials ' } }, 'unsupported_grant_type'],
    [
      'grant_type twice',
      { form: { ...POST, grant_type: ['client_credentials', 'client_credentials'] } },
      'invalid_request',
    ],
    ['client_id twice', { form: { ...POST, client_id: [ID, ID] } }, 'invalid_request'],
    ['client_secret twice', { form: { ...POST, client_secret: [SECRET, 'other'] } }, 'invalid_request'],
    ['client_secret twice, once empty', { form: { ...POST, client_secret: ['', SECRET] } }, 'invalid_request'],
    ['scope twice', { form: { ...POST, scope: ['tools:read', 'admin'] } }, 'invalid_request'],
    ['an unknown parameter twice', { form: { ...POST, foo: ['a', 'b'] } }, 'invalid_request'],
    ['a nested parameter', { form: { ...POST, scope: { admin: 'x' } } }, 'invalid_request'],
    ['a number, as from JSON', { form: { ...POST, scope: 1 } }, 'invalid_request'],
    ['null, as from JSON', { form: { ...POST, scope: null } }, 'invalid_request'],
    ['both methods', { form: POST, authorizationHeader: BASIC }, 'invalid_request'],
    ['both methods, the header malformed', { form: POST, authorizationHeader: 'Basic' }, 'invalid_request'],
    ['a bearer token beside the form', { form: POST, authorizationHeader: 'Bearer x' }, 'invalid_request'],
    [
      'an assertion beside the header',
      { form: { ...GRANT, client_assertion: 'x' }, authorizationHeader: BASIC },
      'invalid_request',
    ],
    ['an assertion beside the secret', { form: { ...POST, client_assertion_type: 'x' } }, 'invalid_request'],
    ['an assertion alone', { form: { ...GRANT, client_id: ID, client_assertion: 'x' } }, 'invalid_client'],
    [
      'another client_id than the header',
      { form: { ...GRANT, client_id: 'cli_b' }, authorizationHeader: BASIC },
      'invalid_request',
    ],
    ['an empty header', { form: GRANT, authorizationHeader: '' }, 'invalid_client'],
    ['a bearer token', { form: GRANT, authorizationHeader: 'Bearer x' }, 'invalid_client'],
    ['Basic without credentials', { form: GRANT, authorizationHeader: 'Basic ' }, 'invalid_client'],
    ['Basic without a colon', { form: GRANT, authorizationHeader: basic(ID) }, 'invalid_client'],
    ['Basic without an id', { form: GRANT, authorizationHeader: basic(`:${SECRET}`) }, 'invalid_client'],
    ['Basic without a secret', { form: GRANT, authorizationHeader: basic(`${ID}:`) }, 'invalid_client'],
    ['Basic that is no base64', { form: GRANT, authorizationHeader: 'Basic $$$$' }, 'invalid_client'],
    ['Basic without padding', { form: GRANT, authorizationHeader: basic('a:bc').replace('=', '') }, 'invalid_client'],
    ['Basic with stray bits', { form: GRANT, authorizationHeader: 'Basic YTpiYz==' }, 'invalid_client'],
    ['Basic with a second value', { form: GRANT, authorizationHeader: `${BASIC}, ${BASIC}` }, 'invalid_client'],
    ['Basic with a broken escape', { form: GRANT, authorizationHeader: basic('cli_a:%zz') }, 'invalid_client'],
    ['Basic with broken UTF-8', { form: GRANT, authorizationHeader: basic('cli_a:%ff%fe') }, 'invalid_client'],
    [
      'Basic with raw bytes',
      { form: GRANT, authorizationHeader: basic(Buffer.from([0x61, 0x3a, 0xff])) },
      'invalid_client',
    ],
    ['Basic with a line break', { form: GRANT, authorizationHeader: basic('cli_a:x%0d%0ay') }, 'invalid_client'],
    [
      'Basic of 4,000 characters',
      { form: GRANT, authorizationHeader: basic(`a:${'b'.repeat(3000)}`) },
      'invalid_client',
    ],
    ['an unknown scope', { form: { ...POST, scope: 'tools:read root' } }, 'invalid_scope'],
    ['a scope with two spaces', { form: { ...POST, scope: 'tools:read  admin' } }, 'invalid_scope'],
    ['credentials in the URL', { form: GRANT, query: { client_id: ID, client_secret: SECRET } }, 'invalid_request'],
    ['the grant in the URL as well', { form: POST, query: GRANT }, 'invalid_request'],
    ['a member inherited and not given', { form: Object.create(POST) }, 'invalid_client'],
  ];
  for (const [name, request, expected] of table) {
    it(`${expected}: ${name}`, () => {
      const result = readTokenRequest({ form: {}, authorizationHeader: undefined, ...request });
      expect(result.ok ? 'accepted' : result.error.error).to.equal(expected);
    });
  }

  it('returns the status and the challenge of RFC 6749 §5.2', () => {
    for (const [name, request] of table) {
      const result = readTokenRequest({ form: {}, authorizationHeader: undefined, ...request });
      if (result.ok) throw new Error(name);
      const isClientError = result.error.error === 'invalid_client';
      expect(result.error.status, name).to.equal(isClientError ? 401 : 400);
      expect(result.error.challenge, name).to.equal(isClientError && request.authorizationHeader !== undefined);
      expect(result.error.description, name).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  });

  it('returns fixed texts, the same one for all failures of authentication (T1)', () => {
    const results = table.map(([, request]) =>
      readTokenRequest({ form: {}, authorizationHeader: undefined, ...request }),
    );
    const texts = results.flatMap((result) =>
      result.ok || result.error.error !== 'invalid_client' ? [] : [result.error.description],
    );
    expect(new Set(texts).size).to.equal(1);
  });

  it('never makes the reader throw', () => {
    const anything = fc.dictionary(
      fc.oneof(fc.constantFrom(...Object.keys(POST), 'scope', '__proto__'), fc.string()),
      fc.anything(),
    );
    fc.assert(
      fc.property(
        anything,
        fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
        (form, authorizationHeader) => {
          const result = readTokenRequest({ form, authorizationHeader });
          if (result.ok) digester.digest('client secret', result.request.clientSecret.reveal());
        },
      ),
    );
  });
});
