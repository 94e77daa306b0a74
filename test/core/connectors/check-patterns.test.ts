import { expect } from 'chai';
import type { AuthField, AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import { checkAuthPatterns } from '../../../core/connectors/check-patterns.ts';
import { compileLinearPattern, compileSearchPattern, PatternError } from '../../../core/connectors/linear-pattern.ts';
import { checkAccountFields, checkStaticDetails, publicFieldsOf } from '../../../core/connectors/static-details.ts';

const field = (field_name: string, more: Partial<AuthField> = {}): AuthField => ({
  field_name,
  label: field_name,
  input_type: 'password',
  ...more,
});
const pathField = field('domain', { input_type: 'text', is_path_param: true, required: true });

function fieldsOf(patterns: AuthPattern[], baseUrl?: string): string[] {
  return checkAuthPatterns(patterns, { baseUrl }).map((error) => error.field);
}

describe('Auth patterns of a provider', () => {
  it('of the usual shape are accepted', () => {
    const patterns: AuthPattern[] = [
      {
        type: 'OAUTH',
        account_fields: [pathField],
        oauth_config: {
          authorize_uri: 'https://auth.acme.example/authorize',
          token_uri: 'https://auth.acme.example/token?v=2',
        },
      },
      {
        type: 'API_KEY',
        fields: [field('api_key'), pathField],
        auth_header_key_override: 'X-Api-Key',
        oauth_config: {},
      },
      {
        type: 'BASIC',
        fields: [pathField, field('username')],
        auth_field_mutations: { password: { default: 'X' } },
        oauth_config: {},
      },
      { type: 'NO_AUTH', account_fields: [pathField], is_mcp: true },
    ];
    expect(checkAuthPatterns(patterns, { baseUrl: 'https://{{domain}}.acme.example' })).to.deep.equal([]);
  });

  it('are unique by type, and their fields by name', () => {
    expect(fieldsOf([{ type: 'API_KEY' }, { type: 'API_KEY' }])).to.deep.equal(['auth_patterns[1].type']);
    expect(
      fieldsOf([
        { type: 'API_KEY', fields: [field('a'), field('a')], account_fields: [field('a', { input_type: 'text' })] },
      ]),
    ).to.deep.equal(['auth_patterns[0].fields[1].field_name', 'auth_patterns[0].account_fields[0].field_name']);
  });

  it('have patterns that can be matched in linear time (P9)', () => {
    for (const pattern of [
      '(a)\\1',
      '(?=a)b',
      '(?<n>a)',
      '\\bx',
      '\\p{Script=Latin}',
      '(a',
      'a{2,1}',
      '[b-a]',
      '^x',
      '(a{1000}){1000}',
    ]) {
      expect(fieldsOf([{ type: 'API_KEY', fields: [field('a', { pattern })] }]), pattern).to.deep.equal([
        'auth_patterns[0].fields[0].pattern',
      ]);
    }
  });

  it('fill the placeholders of addresses, and nothing else', () => {
    const oauth = { authorize_uri: 'https://{{shop}}.acme.example/authorize' };
    expect(fieldsOf([{ type: 'API_KEY', fields: [pathField] }], 'https://api.acme.example')).to.deep.equal([
      'auth_patterns[0].fields[0].is_path_param',
    ]);
    expect(fieldsOf([{ type: 'API_KEY', fields: [pathField] }])).to.deep.equal([]);
    expect(fieldsOf([{ type: 'API_KEY' }], 'https://{{domain}}.acme.example')).to.deep.equal(['proxy_url']);
    expect(fieldsOf([{ type: 'OAUTH', oauth_config: oauth }])).to.deep.equal([
      'auth_patterns[0].oauth_config.authorize_uri',
    ]);
    expect(fieldsOf([{ type: 'API_KEY' }], 'https://acme.example/x{{a}}')).to.deep.equal(['proxy_url']);
    expect(
      fieldsOf(
        [{ type: 'API_KEY', fields: [field('domain', { is_path_param: true })] }],
        'https://{{domain}}.acme.example',
      ),
    ).to.deep.equal(['auth_patterns[0].fields[0].is_path_param']);
  });

  it('have https endpoints (P7)', () => {
    for (const key of ['authorize_uri', 'token_uri', 'user_info_uri', 'revocation_uri', 'issuer'] as const) {
      for (const address of [
        'http://acme.example/x',
        'javascript:alert(1)',
        'https://u:p@acme.example',
        'https://acme.example/#x',
        'https://',
      ]) {
        expect(fieldsOf([{ type: 'OAUTH', oauth_config: { [key]: address } }]), `${key} ${address}`).to.deep.equal([
          `auth_patterns[0].oauth_config.${key}`,
        ]);
      }
    }
  });

  it('place credentials only where a credential is allowed', () => {
    for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'Proxy-Authorization', 'Connection', 'a[b]']) {
      expect(fieldsOf([{ type: 'API_KEY', placement: { in: 'header', name } }]), name).to.deep.equal([
        'auth_patterns[0].placement.name',
      ]);
      expect(
        fieldsOf([{ type: 'CUSTOM', fields: [field('a', { placement: { in: 'header', name } })] }]),
        name,
      ).to.deep.equal(['auth_patterns[0].fields[0].placement.name']);
      expect(fieldsOf([{ type: 'API_KEY', auth_header_key_override: name }]), name).to.deep.equal([
        'auth_patterns[0].auth_header_key_override',
      ]);
    }
    expect(fieldsOf([{ type: 'API_KEY', placement: { in: 'cookie', name: 'a[b]' } }])).to.deep.equal([
      'auth_patterns[0].placement.name',
    ]);
    expect(
      fieldsOf([{ type: 'API_KEY', placement: { in: 'query', name: 'k' }, auth_header_key_override: 'X-K' }]),
    ).to.deep.equal(['auth_patterns[0].placement']);
  });

  it('have options for a select, no secrets among account fields, and mutations of known fields only', () => {
    expect(fieldsOf([{ type: 'API_KEY', fields: [field('a', { input_type: 'select' })] }])).to.deep.equal([
      'auth_patterns[0].fields[0].options',
    ]);
    expect(fieldsOf([{ type: 'OAUTH', account_fields: [field('a')] }])).to.deep.equal([
      'auth_patterns[0].account_fields[0].input_type',
    ]);
    expect(fieldsOf([{ type: 'API_KEY', auth_field_mutations: { other: { prefix: 'x' } } }])).to.deep.equal([
      'auth_patterns[0].auth_field_mutations.other',
    ]);
    expect(fieldsOf([{ type: 'API_KEY', fields: [] }])).to.deep.equal(['auth_patterns[0].fields']);
  });
});

describe('The details of a static credential', () => {
  const path = 'connected_account.authorization_details.static_auth.details';
  const pattern: AuthPattern = {
    type: 'BASIC',
    fields: [
      field('username', { input_type: 'text', required: true }),
      field('password', { required: true }),
      field('region', { input_type: 'select', options: ['eu', 'us'] }),
      field('domain', { input_type: 'text', pattern: '[a-z]{1,5}' }),
      field('notes', { input_type: 'textarea' }),
    ],
  };
  const errorsOf = (details: Record<string, unknown>, of = pattern) =>
    checkStaticDetails(of, details).map((error) => error.field);

  it('are accepted, also without the optional ones', () => {
    expect(errorsOf({ username: 'u', password: 'p', region: 'eu', domain: 'abc', notes: 'a\nb' })).to.deep.equal([]);
    expect(errorsOf({ username: 'u', password: 'p' })).to.deep.equal([]);
  });

  it('are named in the error when missing, unknown, of another type or against their pattern', () => {
    expect(errorsOf({ username: '', region: 'asia', domain: 'ABC', extra: 1 })).to.deep.equal([
      `${path}.username`,
      `${path}.password`,
      `${path}.region`,
      `${path}.domain`,
      `${path}.extra`,
    ]);
    expect(errorsOf({ username: 7, password: { a: 1 } })).to.deep.equal([`${path}.username`, `${path}.password`]);
    expect(errorsOf({ username: 'a:b', password: 'p' })).to.deep.equal([`${path}.username`]);
    expect(errorsOf({ username: 'a\r\nb', password: 'p\u0000', notes: '\u0007' })).to.deep.equal([
      `${path}.username`,
      `${path}.password`,
      `${path}.notes`,
    ]);
    expect(errorsOf({ username: 'u', password: 'x'.repeat(20_000) })).to.deep.equal([`${path}.password`]);
  });

  it('have the usual fields of their type when the pattern lists none', () => {
    expect(errorsOf({ key: 'x' }, { type: 'API_KEY' })).to.deep.equal([`${path}.api_key`, `${path}.key`]);
    expect(errorsOf({ token: 'x' }, { type: 'BEARER_TOKEN' })).to.deep.equal([]);
    expect(errorsOf({ anything: 'x' }, { type: 'CUSTOM' })).to.deep.equal([]);
  });

  it('may lack a required field that has a default', () => {
    const defaulted: AuthPattern = { type: 'API_KEY', auth_field_mutations: { api_key: { default: 'anonymous' } } };
    expect(errorsOf({}, defaulted)).to.deep.equal([]);
  });

  it('do not include inherited members', () => {
    expect(errorsOf({}, { type: 'CUSTOM', fields: [field('constructor', { required: true })] })).to.deep.equal([
      `${path}.constructor`,
    ]);
  });

  it('show only values that are not secret and that the pattern declares', () => {
    expect([...publicFieldsOf(pattern)]).to.deep.equal(['username', 'region', 'domain']);
  });

  it('are checked in api_config if they are account fields', () => {
    const oauth: AuthPattern = {
      type: 'OAUTH',
      account_fields: [field('domain', { input_type: 'text', pattern: '[a-z]+', required: true })],
    };
    expect(checkAccountFields(oauth, {})).to.deep.equal([]);
    expect(checkAccountFields(oauth, { domain: 'A' }).map((error) => error.field)).to.deep.equal([
      'connected_account.api_config.domain',
    ]);
  });
});

describe('Linear patterns', () => {
  const matches = (pattern: string, value: string) => compileLinearPattern(pattern).matches(value);

  it('match the same whole values as the built-in engine', () => {
    const patterns = [
      'a*b+c?',
      '(ab|a)(bc|c)',
      '[a-c]{2,3}',
      '\\d+(\\.\\d+)?',
      '[^a]*',
      '(a|b)*c',
      '\\w+@\\w+\\.\\w{2,}',
      'a{0}b',
      '(?:x|y){2}',
      '\\x41\\u0042',
      '[\\w-]+',
      '[\\]a]',
      'a.c',
      '',
      '(|a)b',
      '\\s?\\S',
    ];
    const values = [
      '',
      'a',
      'b',
      'ab',
      'abc',
      'aab',
      'abbc',
      'abcc',
      'cab',
      '1',
      '1.5',
      '1.',
      'c',
      'bac',
      'a@b.cd',
      'xy',
      'xxx',
      'AB',
      'a-b',
      ']',
      'a\nc',
      ' x',
      '-',
      'axc',
      'é',
    ];
    for (const pattern of patterns) {
      for (const value of values)
        expect(matches(pattern, value), `${pattern} ${value}`).to.equal(new RegExp(`^(?:${pattern})$`).test(value));
    }
  });

  it('find the same parts of a value as the built-in engine, as in JSON Schema', () => {
    const patterns = [
      'b',
      '^b',
      'b$',
      '^b$',
      '',
      '^',
      '$',
      '^(a|b)',
      'a*$',
      '[0-9]+',
      'ab?c',
      '^[^/]',
      'b\\$',
      '(|a)b',
      'a.*c',
    ];
    const values = ['', 'a', 'b', 'ab', 'ba', 'abc', 'ac', 'xabcx', '/a', 'x12', 'b$', 'a\nb', 'é', 'aac!'];
    for (const pattern of patterns) {
      for (const value of values) {
        const expected = new RegExp(pattern, 'u').test(value);
        expect(compileSearchPattern(pattern).matches(value), `${pattern} ${value}`).to.equal(expected);
      }
    }
    expect(() => compileSearchPattern('^a|b')).to.throw(PatternError);
  });

  it('take linear time where a backtracking engine takes exponential time (P9)', () => {
    for (const pattern of ['(a+)+', '(a|a)*', '(a|aa)+', '(.*a){20}', 'a*a*a*a*a*a*b', '([a-z]+)*x']) {
      expect(matches(pattern, `${'a'.repeat(5000)}!`), pattern).to.equal(false);
    }
  });

  it('refuse expressions that would need more than that, and large ones', () => {
    for (const pattern of [
      '(a)\\1',
      '(?!a)',
      '(?<=a)',
      '\\b',
      'a**',
      '(((a{0}){9999}){9999})',
      '('.repeat(50) + ')'.repeat(50),
      '^a',
      'a$',
      '^a|b$',
      '*a',
      'a{,2}',
      '[a',
      '\\',
      '\\xZZ',
    ]) {
      expect(() => compileLinearPattern(pattern), pattern).to.throw(PatternError);
    }
  });

  it('read anchors at both ends as anchors', () => {
    expect([
      matches('^a+$', 'aa'),
      matches('^a\\$$', 'a$'),
      matches('a\\$', 'a$'),
      matches('^a+$', 'baa'),
    ]).to.deep.equal([true, true, true, false]);
  });
});
