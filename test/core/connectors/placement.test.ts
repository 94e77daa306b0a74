import { expect } from 'chai';
import { authorizationTypes } from '../../../core/authorization/registry.ts';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import type { Credential, PlacedPart } from '../../../core/connectors/credential.ts';
import { placeCredential } from '../../../core/connectors/placement.ts';
import { Secret } from '../../../core/secret.ts';

function details(values: Record<string, string>): Credential {
  return {
    kind: 'static',
    details: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)])),
  };
}

const token = (value = 'at_123456'): Credential => ({ kind: 'token', accessToken: new Secret(value) });

function shown(pattern: AuthPattern, credential: Credential): string[] {
  return placeCredential(pattern, credential).parts.map(
    ({ in: where, name, value }: PlacedPart) => `${where} ${name}: ${value}`,
  );
}

function codeOf(pattern: AuthPattern, credential: Credential): string {
  try {
    placeCredential(pattern, credential);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'placed';
}

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

describe('The placement of a credential depends on its type:', () => {
  it('OAuth tokens go into Authorization: Bearer', () => {
    for (const type of ['OAUTH', 'OAUTH_M2M', 'SMART_FHIR', 'WORKSPACE_DWD'] as const) {
      expect(shown({ type }, token()), type).to.deep.equal(['header Authorization: Bearer at_123456']);
    }
  });

  it('a scheme, a header and mutations of the pattern apply to tokens too', () => {
    expect(shown({ type: 'OAUTH', auth_scheme: 'Zoho-oauthtoken' }, token())).to.deep.equal([
      'header Authorization: Zoho-oauthtoken at_123456',
    ]);
    expect(shown({ type: 'OAUTH', auth_scheme: '', auth_header_key_override: 'X-Token' }, token())).to.deep.equal([
      'header X-Token: at_123456',
    ]);
    const mutated: AuthPattern = { type: 'OAUTH', auth_field_mutations: { access_token: { prefix: 'p-' } } };
    expect(shown(mutated, token())).to.deep.equal(['header Authorization: Bearer p-at_123456']);
  });

  it('a bearer token is the field named token, or the only secret field', () => {
    expect(shown({ type: 'BEARER_TOKEN' }, details({ token: 't1' }))).to.deep.equal([
      'header Authorization: Bearer t1',
    ]);
    const named: AuthPattern = {
      type: 'BEARER_TOKEN',
      fields: [
        { field_name: 'region', label: 'Region', input_type: 'text', is_path_param: true },
        { field_name: 'pat', label: 'PAT', input_type: 'password' },
      ],
    };
    expect(shown(named, details({ region: 'eu', pat: 't2' }))).to.deep.equal(['header Authorization: Bearer t2']);
  });

  it('an API key goes into a header, the query or a cookie', () => {
    const key = details({ api_key: 'k1' });
    expect(shown({ type: 'API_KEY' }, key)).to.deep.equal(['header Authorization: k1']);
    expect(shown({ type: 'API_KEY', auth_header_key_override: 'X-Api-Key' }, key)).to.deep.equal([
      'header X-Api-Key: k1',
    ]);
    expect(shown({ type: 'API_KEY', placement: { in: 'query', name: 'key' } }, key)).to.deep.equal(['query key: k1']);
    expect(shown({ type: 'API_KEY', placement: { in: 'cookie', name: 'sid' } }, key)).to.deep.equal(['cookie sid: k1']);
  });

  it('mutations apply in the order default, prefix, suffix', () => {
    const pattern: AuthPattern = {
      type: 'API_KEY',
      auth_field_mutations: { api_key: { default: 'D', prefix: 'SSWS ', suffix: '!' } },
    };
    expect(shown(pattern, details({ api_key: 'k1' }))).to.deep.equal(['header Authorization: SSWS k1!']);
    expect(shown(pattern, details({ api_key: '' }))).to.deep.equal(['header Authorization: SSWS D!']);
    expect(shown(pattern, details({}))).to.deep.equal(['header Authorization: SSWS D!']);
  });

  it('Basic encodes UTF-8, after the mutations (RFC 7617)', () => {
    for (const type of ['BASIC', 'BASIC_AUTH'] as const) {
      expect(shown({ type }, details({ username: 'zoë', password: 'pä:ss' }))).to.deep.equal([
        `header Authorization: Basic ${base64('zoë:pä:ss')}`,
      ]);
    }
    expect(shown({ type: 'BASIC' }, details({ username: 'test', password: '123\u00a3' }))).to.deep.equal([
      'header Authorization: Basic dGVzdDoxMjPCow==',
    ]);
    const helpDesk: AuthPattern = {
      type: 'BASIC',
      fields: [{ field_name: 'username', label: 'API key', input_type: 'password', required: true }],
      auth_field_mutations: { username: { suffix: '/token' }, password: { default: 'X' } },
    };
    const placed = placeCredential(helpDesk, details({ username: 'key-123' }));
    expect(placed.parts[0]?.value).to.equal(`Basic ${base64('key-123/token:X')}`);
  });

  it('a colon in a user name is refused (RFC 7617 §2)', () => {
    expect(codeOf({ type: 'BASIC' }, details({ username: 'a:b', password: 'p' }))).to.equal(
      'INVALID_AUTHORIZATION_DETAILS',
    );
  });

  it('custom fields go where their definition says, by default into a header of their name', () => {
    const field = (field_name: string, more: object = {}) => ({
      field_name,
      label: field_name,
      input_type: 'password' as const,
      ...more,
    });
    const pattern: AuthPattern = {
      type: 'CUSTOM',
      fields: [
        field('app', { placement: { in: 'header', name: 'DD-APP' } }),
        field('api', { placement: { in: 'query', name: 'api' } }),
        field('pin', { placement: { in: 'body', name: 'pin' } }),
        field('x_plain'),
        field('region', { is_path_param: true, input_type: 'text' }),
        field('missing', { placement: { in: 'header', name: 'X-Missing' } }),
      ],
    };
    expect(shown(pattern, details({ app: 'a', api: 'b', pin: 'c', x_plain: 'd', region: 'eu' }))).to.deep.equal([
      'header DD-APP: a',
      'query api: b',
      'body pin: c',
      'header x_plain: d',
    ]);
  });

  it('a second key is sent beside the main one', () => {
    const pattern: AuthPattern = {
      type: 'API_KEY',
      auth_header_key_override: 'DD-API-KEY',
      fields: [
        {
          field_name: 'app_key',
          label: 'App',
          input_type: 'password',
          placement: { in: 'header', name: 'DD-APPLICATION-KEY' },
        },
        { field_name: 'api_key', label: 'API', input_type: 'password' },
      ],
    };
    expect(shown(pattern, details({ app_key: 'a', api_key: 'b' }))).to.deep.equal([
      'header DD-API-KEY: b',
      'header DD-APPLICATION-KEY: a',
    ]);
  });

  it('a Trello token goes into an OAuth header, or where the pattern says', () => {
    expect(shown({ type: 'BOARD_OAUTH1' }, { ...token('t"1'), consumerKey: 'ck' } as Credential)).to.deep.equal([
      'header Authorization: OAuth oauth_consumer_key="ck", oauth_token="t%221"',
    ]);
    expect(shown({ type: 'BOARD_OAUTH1', placement: { in: 'query', name: 'token' } }, token('t1'))).to.deep.equal([
      'query token: t1',
    ]);
  });

  it('NO_AUTH adds nothing; calls with a signature add nothing here either, and their secrets are redacted from responses', () => {
    expect(placeCredential({ type: 'NO_AUTH' }, { kind: 'none' })).to.deep.equal({ parts: [], secrets: [] });
    const signer = { sign: (r: never) => r, preview: (r: never) => r, secrets: ['key'] };
    expect(placeCredential({ type: 'TRUSTED_IDP' }, { kind: 'signer', signer })).to.deep.equal({
      parts: [],
      secrets: ['key'],
    });
  });

  it('an account without a value that its type requires is refused, for every type', () => {
    for (const type of authorizationTypes()) {
      if (['NO_AUTH', 'CUSTOM'].includes(type)) continue;
      for (const credential of [{ kind: 'none' }, token(''), details({})] as Credential[]) {
        if (type === 'BOARD_OAUTH1' && credential.kind !== 'none') continue;
        expect(codeOf({ type }, credential), `${type} ${credential.kind}`).to.equal('INVALID_AUTHORIZATION_DETAILS');
      }
    }
  });

  it('a value that would break its header or cookie is refused (E2)', () => {
    for (const value of ['a\r\nX: y', 'a\n', 'a\u0000b', 'ü']) {
      expect(codeOf({ type: 'BEARER_TOKEN' }, details({ token: value })), JSON.stringify(value)).to.equal(
        'INVALID_AUTHORIZATION_DETAILS',
      );
    }
    for (const value of ['a;b', 'a b', 'a,b', '"a"', 'a\\b']) {
      expect(
        codeOf({ type: 'API_KEY', placement: { in: 'cookie', name: 'c' } }, details({ api_key: value })),
        value,
      ).to.equal('INVALID_AUTHORIZATION_DETAILS');
    }
  });

  it('lists every text to redact from responses: the value, its mutation, its encodings', () => {
    const basic = placeCredential({ type: 'BASIC' }, details({ username: 'ada', password: 'p+/ss' }));
    expect(basic.secrets)
      .to.include.members(['p+/ss', 'p%2B%2Fss', base64('ada:p+/ss')])
      .and.not.include('ada');
    const mutated = placeCredential(
      { type: 'API_KEY', auth_field_mutations: { api_key: { prefix: 'pre' } } },
      details({ api_key: 'key' }),
    );
    expect(mutated.secrets).to.include.members(['key', 'prekey']);
    const open: AuthPattern = { type: 'API_KEY', fields: [{ field_name: 'api_key', label: 'k', input_type: 'text' }] };
    expect(placeCredential(open, details({ api_key: 'typed as text' })).secrets).to.include('typed as text');
  });
});
