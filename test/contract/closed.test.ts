import { expect } from 'chai';
import type { Json, JsonObject } from '../../scripts/openapi-document.ts';
import { bodiesOf, objectAt, operationsOf, resolve } from '../../scripts/openapi-document.ts';
import { OAUTH_OPERATIONS } from '../support/contract-requests.ts';
import { compile, contract, errorsOf, example } from './contract.ts';

/** Objects that may have any members. */
const FREE = [
  'api_config',
  'details',
  'tool_input',
  'preset_inputs',
  'allowed_values',
  'input_schema',
  'output_schema',
  'input',
  'request',
  'pagination',
  'response',
  'metadata',
  'extra_authorize_params',
  'extra_token_params',
  'auth_field_mutations',
];

/** Yields every object inside a value, with the path to it, except those in FREE. */
function* objectsIn(value: Json | undefined, path = ''): Generator<{ object: JsonObject; path: string }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* objectsIn(item, `${path}/${index}`);
  } else if (typeof value === 'object' && value !== null) {
    yield { object: value, path };
    for (const [key, member] of Object.entries(value)) {
      if (!FREE.includes(key)) yield* objectsIn(member, `${path}/${key}`);
    }
  }
}

function withAccount(authorization_details: JsonObject): JsonObject {
  return { connector: 'github', identifier: 'ada', user_id: 'u', connected_account: { authorization_details } };
}

function answered(authorization_details: JsonObject): JsonObject {
  const account = example('trustedIdpAccount')['connected_account'] as JsonObject;
  return { connected_account: { ...account, authorization_details } };
}

describe('requests are closed', () => {
  for (const operation of operationsOf(contract)) {
    for (const { side, media } of bodiesOf(contract, operation)) {
      // OAuth endpoints must ignore unknown members (RFC 6749 §3.2, RFC 7591 §2).
      if (side !== 'request' || OAUTH_OPERATIONS.includes(operation.id)) continue;
      it(`${operation.id} refuses an unknown field at every depth (C3)`, () => {
        const validate = compile(media['schema'], 'request');
        for (const reference of Object.values(objectAt(media, 'examples'))) {
          const value = structuredClone(resolve(contract, reference)['value']) as JsonObject;
          expect(validate(value), 'the control').to.equal(true);
          for (const { object, path } of objectsIn(value)) {
            object['surplus'] = 'x';
            expect(validate(value), path).to.equal(false);
            delete object['surplus'];
          }
        }
      });
    }
  }

  it('refuse every field of an account that only the server sets (C3)', () => {
    const { connected_account: account } = example('oauthAccount') as { connected_account: JsonObject };
    const settable = ['api_config', 'authorization_details'];
    for (const field of Object.keys(account).filter((name) => !settable.includes(name))) {
      const body = { ...withAccount({}), connected_account: { [field]: account[field] } } as JsonObject;
      expect(errorsOf('createConnectedAccount', 'request', body), field).to.have.lengthOf(1);
      expect(errorsOf('updateConnectedAccount', 'request', body), field).to.have.lengthOf(1);
    }
  });

  it('refuse fields of credentials that only the server sets (C3)', () => {
    const refused: JsonObject[] = [
      { workspace_dwd: { subject: 'a', access_token: 'x' } },
      { workspace_dwd: { subject: 'a', scopes: [] } },
      { workspace_dwd: { subject: 'a', token_expires_at: '2025-10-04T10:00:00Z' } },
      { trusted_idp: { access_key_id: 'x' } },
      { trusted_idp: { expiry: '2025-10-04T10:00:00Z' } },
      { trusted_idp: { secret_access_key: 'x' } },
      { trusted_idp: { session_token: 'x' } },
    ];
    for (const details of refused) {
      for (const id of ['createConnectedAccount', 'updateConnectedAccount']) {
        expect(errorsOf(id, 'request', withAccount(details)), JSON.stringify(details)).to.not.deep.equal([]);
      }
    }
  });

  it('accept exactly one kind of credentials, or none', () => {
    const takes = (details: JsonObject) =>
      errorsOf('createConnectedAccount', 'request', withAccount(details)).length === 0;
    expect(takes({})).to.equal(true);
    expect(takes({ oauth_token: { access_token: 'a' } })).to.equal(true);
    expect(takes({ static_auth: { details: {} }, oauth_token: { access_token: 'a' } })).to.equal(false);
  });

  it('refuse the fields of a custom provider that only the server sets', () => {
    const { provider } = example('oauthProvider') as { provider: JsonObject };
    for (const field of [
      'id',
      'identifier',
      'categories',
      'coming_soon',
      'display_priority',
      'is_custom',
      'is_custom_mcp',
    ]) {
      const body = { ...example('createOAuthProvider'), [field]: provider[field] as Json };
      expect(errorsOf('createCustomProvider', 'request', body), field).to.have.lengthOf(1);
    }
  });
});

describe('responses', () => {
  it('can never hold secret_access_key or session_token (C4)', () => {
    const control = answered({ trusted_idp: { db_user: 'u', access_key_id: 'k', expiry: '2025-10-04T10:00:00Z' } });
    expect(errorsOf('getConnectedAccountAuth', '200', control)).to.deep.equal([]);
    for (const field of ['secret_access_key', 'session_token']) {
      for (const [id, status] of Object.entries({
        createConnectedAccount: '201',
        updateConnectedAccount: '200',
        getConnectedAccountAuth: '200',
      })) {
        expect(errorsOf(id, status, answered({ trusted_idp: { [field]: 'x' } })), `${id} ${field}`).to.not.deep.equal(
          [],
        );
      }
    }
  });

  it('of details hold no secrets (C4)', () => {
    const full = ['oauthAccount', 'trustedIdpAccount'];
    const secrets: JsonObject[] = [
      { oauth_token: { access_token: 'x' } },
      { oauth_token: { refresh_token: 'x' } },
      { workspace_dwd: { access_token: 'x' } },
      { trusted_idp: { secret_access_key: 'x' } },
      { trusted_idp: { session_token: 'x' } },
    ];
    expect(errorsOf('getConnectedAccountDetails', '200', example('oauthAccountDetails'))).to.deep.equal([]);
    expect(errorsOf('getConnectedAccountDetails', '200', example(full[0] as string))).to.not.deep.equal([]);
    for (const details of secrets) {
      expect(
        errorsOf('getConnectedAccountDetails', '200', answered(details)),
        JSON.stringify(details),
      ).to.not.deep.equal([]);
    }
  });

  it('of lists hold neither API settings nor credentials (C4)', () => {
    const page = example('accountPage') as { connected_accounts: JsonObject[] };
    for (const field of ['api_config', 'authorization_details']) {
      const account = { ...(page.connected_accounts[0] as JsonObject), [field]: {} };
      for (const id of ['listConnectedAccounts', 'searchConnectedAccounts']) {
        expect(errorsOf(id, '200', { ...page, connected_accounts: [account] }), `${id} ${field}`).to.have.lengthOf(1);
      }
    }
  });

  it('never hold the client secret of a connection', () => {
    const { connection } = example('oauthConnection') as { connection: JsonObject };
    const leak = { connection: { ...connection, client_secret: 'x' } };
    for (const id of ['getConnection', 'updateConnection', 'enableConnection', 'disableConnection']) {
      expect(errorsOf(id, '200', leak), id).to.have.lengthOf(1);
    }
  });
});
