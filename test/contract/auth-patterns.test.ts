import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { authorizationTypes } from '../../core/authorization/registry.ts';
import type { AuthPattern } from '../../core/connectors/auth-pattern.ts';
import { contractPattern } from '../../core/connectors/contract-pattern.ts';
import type { Json } from '../../scripts/openapi-document.ts';
import { compile, errorsOf } from './contract.ts';

const KEY = { field_name: 'api_key', label: 'Key', input_type: 'password' };

function errorsOfPatterns(...auth_patterns: Json[]): string[] {
  const errors = errorsOf('createCustomProvider', 'request', { display_name: 'Acme', auth_patterns });
  return errors.map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
}

describe('authentication patterns', () => {
  it('exist for every authorization type, and require no fields of other types', () => {
    for (const type of authorizationTypes()) expect(errorsOfPatterns({ type }), type).to.deep.equal([]);
  });

  it('accept the shapes that the documentation shows', () => {
    const domain = { field_name: 'domain', label: 'Host', input_type: 'text', required: true, is_path_param: true };
    const scope = { scope: 'read', display_name: 'Read', description: 'Read records', required: true };
    const shapes: Json[] = [
      {
        type: 'OAUTH',
        display_name: 'Acme',
        fields: [],
        account_fields: [domain],
        oauth_config: {
          authorize_uri: 'https://a.test/authorize',
          token_uri: 'https://a.test/token',
          available_scopes: [scope],
        },
      },
      { type: 'API_KEY', fields: [KEY], auth_header_key_override: 'X-Api-Key', oauth_config: {} },
      { type: 'API_KEY', fields: [KEY], placement: { in: 'cookie', name: 'key' } },
      {
        type: 'BASIC',
        fields: [domain, { ...KEY, field_name: 'username' }],
        auth_field_mutations: { password: { default: 'X' } },
      },
      { type: 'CUSTOM', fields: [{ ...KEY, placement: { in: 'body', name: 'key' } }] },
      { type: 'OAUTH_M2M', fields: [KEY], oauth_config: { issuer: 'https://a.test' } },
      { type: 'NO_AUTH', is_mcp: true },
    ];
    for (const shape of shapes) expect(errorsOfPatterns(shape), JSON.stringify(shape)).to.deep.equal([]);
  });

  it('report one error at the path of the fault, regardless of the number of types', () => {
    const faults: [Json, string][] = [
      [{}, '/auth_patterns/0 discriminator'],
      [{ type: 'SAML' }, '/auth_patterns/0 discriminator'],
      [{ type: 7 }, '/auth_patterns/0 discriminator'],
      [{ type: 'OAUTH', surplus: 1 }, '/auth_patterns/0 additionalProperties'],
      [{ type: 'OAUTH', fields: [KEY] }, '/auth_patterns/0/fields maxItems'],
      [{ type: 'OAUTH', placement: { in: 'header', name: 'x' } }, '/auth_patterns/0 additionalProperties'],
      [
        { type: 'OAUTH', oauth_config: { token_uri: 'ftp://a.test' } },
        '/auth_patterns/0/oauth_config/token_uri pattern',
      ],
      [{ type: 'OAUTH', oauth_config: { pkce: 'plain' } }, '/auth_patterns/0/oauth_config/pkce enum'],
      [
        { type: 'API_KEY', oauth_config: { token_uri: 'https://a.test' } },
        '/auth_patterns/0/oauth_config maxProperties',
      ],
      [{ type: 'API_KEY', placement: { in: 'body', name: 'x' } }, '/auth_patterns/0/placement/in enum'],
      [
        { type: 'API_KEY', fields: [{ ...KEY, field_name: 'Api-Key' }] },
        '/auth_patterns/0/fields/0/field_name pattern',
      ],
      [
        { type: 'API_KEY', fields: [{ ...KEY, field_name: 'a'.repeat(41) }] },
        '/auth_patterns/0/fields/0/field_name pattern',
      ],
      [{ type: 'API_KEY', fields: [{ ...KEY, input_type: 'file' }] }, '/auth_patterns/0/fields/0/input_type enum'],
      [{ type: 'API_KEY', auth_header_key_override: 'X Key' }, '/auth_patterns/0/auth_header_key_override pattern'],
      [
        { type: 'CUSTOM', fields: [{ ...KEY, placement: { in: 'cookie', name: 'x' } }] },
        '/auth_patterns/0/fields/0/placement/in enum',
      ],
    ];
    for (const [pattern, error] of faults)
      expect(errorsOfPatterns(pattern), JSON.stringify(pattern)).to.deep.equal([error]);
  });

  it('are limited to 1 to 12 for each provider', () => {
    expect(errorsOfPatterns()).to.deep.equal(['/auth_patterns minItems']);
    const thirteen = Array.from({ length: 13 }, () => ({ type: 'NO_AUTH' }));
    expect(errorsOfPatterns(...thirteen.slice(1))).to.deep.equal([]);
    expect(errorsOfPatterns(...thirteen)).to.deep.equal(['/auth_patterns maxItems']);
  });

  it('of the built-in connectors can be returned, without the keys that only connector files have', () => {
    const file = new URL('../../generated/catalogue.json', import.meta.url);
    const { connectors } = JSON.parse(readFileSync(file, 'utf8')) as {
      connectors: Record<string, { auth_patterns: AuthPattern[] }>;
    };
    const validate = compile({ $ref: '#/components/schemas/AuthPattern' }, 'response');
    for (const [identifier, connector] of Object.entries(connectors)) {
      for (const pattern of connector.auth_patterns) {
        validate(contractPattern(pattern));
        expect(validate.errors, `${identifier} ${pattern.type}`).to.equal(null);
      }
    }
  });
});
