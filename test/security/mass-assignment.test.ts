import { expect } from 'chai';
import type { AuthorizationType } from '../../core/authorization/type.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { arrayAt, objectAt, resolve } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { createConnector, SAMPLES } from '../support/all-types.ts';
import { dumpDatabase } from '../support/database-file.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connected_accounts';

function schema(name: string): JsonObject {
  return resolve(contract, { $ref: `#/components/schemas/${name}` });
}

const fieldsOf = (name: string) => Object.keys(objectAt(schema(name), 'properties'));

/** Returns the fields of each form of `authorization_details`, of responses or of one kind of request. */
function formsOf(union: string): Record<string, string[]> {
  const forms: Record<string, string[]> = {};
  for (const branch of arrayAt(schema(union), 'oneOf')) {
    for (const [form, value] of Object.entries(objectAt(resolve(contract, branch), 'properties'))) {
      forms[form] = Object.keys(objectAt(value as JsonObject, 'properties'));
    }
  }
  return forms;
}

/** A valid value for the field. */
const VALUES: Record<string, unknown> = {
  status: 'ACTIVE',
  authorization_type: 'API_KEY',
  scopes: ['admin'],
  id: 'ca_00000000000000000000000000',
  api_config: { injected: true },
  authorization_details: {},
};

const sampleOf = (name: string): unknown =>
  VALUES[name] ?? (/expir|_at$/.test(name) ? '2030-01-01T00:00:00.000Z' : 'injected');

const TYPES: Record<string, AuthorizationType> = {
  oauth_token: 'OAUTH',
  static_auth: 'API_KEY',
  workspace_dwd: 'WORKSPACE_DWD',
  trusted_idp: 'TRUSTED_IDP',
};

/** A place in a request to which a response-only field is added. */
interface Slip {
  /** The name of the field in an error. */
  field: string;
  type: AuthorizationType;
  into(body: JsonObject): void;
}

function slips(request: string, account: string, union: string): Slip[] {
  const answered = fieldsOf('ConnectedAccount');
  const known = { top: fieldsOf(request), account: fieldsOf(account), forms: formsOf(union) };
  const type = 'API_KEY';
  const details = (body: JsonObject) => objectAt(objectAt(body, 'connected_account'), 'authorization_details');
  const top = answered
    .filter((name) => !known.top.includes(name))
    .map((name): Slip => ({ field: name, type, into: (body) => Object.assign(body, { [name]: sampleOf(name) }) }));
  const inside = [...answered, 'version', 'origins', 'credential_generation', 'connector', 'identifier']
    .filter((name) => !known.account.includes(name))
    .map((name): Slip => {
      const into = (body: JsonObject) => Object.assign(objectAt(body, 'connected_account'), { [name]: sampleOf(name) });
      return { field: `connected_account.${name}`, type, into };
    });
  const responses = formsOf('AuthorizationDetails');
  const everyField = new Set(Object.values(responses).flat());
  const deep = Object.keys(known.forms).flatMap((form) =>
    [...everyField]
      .filter((name) => !known.forms[form]?.includes(name))
      .map((name): Slip => {
        const into = (body: JsonObject) => Object.assign(objectAt(details(body), form), { [name]: sampleOf(name) });
        return {
          field: `connected_account.authorization_details.${form}.${name}`,
          type: TYPES[form] as AuthorizationType,
          into,
        };
      }),
  );
  return [...top, ...inside, ...deep];
}

const REQUESTS = [
  {
    method: 'POST',
    slips: slips('CreateConnectedAccountRequest', 'ConnectedAccountInput', 'AuthorizationDetailsInput'),
  },
  {
    method: 'PUT',
    slips: slips('UpdateConnectedAccountRequest', 'ConnectedAccountUpdate', 'AuthorizationDetailsUpdate'),
  },
];

describe('fields that only responses have (C3)', () => {
  let server: TestServer;
  const connectors: Partial<Record<AuthorizationType, string>> = {};

  before(async () => {
    server = await startTestServer();
    for (const type of Object.values(TYPES)) {
      const connector = await createConnector(server, [SAMPLES[type].pattern]);
      connectors[type] = connector;
      const answer = await server.call('POST', PATH, { body: bodyOf(type) });
      expect(answer.status, 'the control: without the field the request is right').to.equal(201);
    }
  });
  after(() => server.stop());

  function bodyOf(type: AuthorizationType, identifier = 'i'): JsonObject {
    const authorization_details = structuredClone(SAMPLES[type].details) as JsonObject;
    return {
      connector: connectors[type] as string,
      identifier,
      user_id: 'u',
      connected_account: { authorization_details },
    };
  }

  it('include those that the description calls response only', () => {
    const places = REQUESTS.flatMap(({ slips }) => slips.map(({ field }) => field.split('.').slice(-2).join('.')));
    expect(places).to.include.members([
      'status',
      'connection_id',
      'connected_account.status',
      'connected_account.token_expires_at',
      'workspace_dwd.access_token',
      'workspace_dwd.scopes',
      'workspace_dwd.token_expires_at',
      'trusted_idp.access_key_id',
      'trusted_idp.expiry',
      'trusted_idp.secret_access_key',
      'trusted_idp.session_token',
      'oauth_token.session_token',
    ]);
  });

  for (const { method, slips: all } of REQUESTS) {
    it(`are refused at each of ${all.length} places of a ${method}, by name, and nothing is written`, async () => {
      const before = dumpDatabase(server);
      for (const { field, type, into } of all) {
        const body = bodyOf(type, method === 'POST' ? 'another' : 'i');
        into(body);
        const answer = await server.call(method, PATH, { body });
        expect(answer.body, field).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors, field).to.have.length(1);
        expect(answer.body.errors[0].field).to.equal(field);
        expect(answer.body.errors[0].message).to.match(/^unknown field \(allowed: /);
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
    });
  }

  it('are refused beside valid details too', async () => {
    for (const name of ['status', 'secret_access_key', 'oauth_token_extra']) {
      const body = bodyOf('TRUSTED_IDP', 'beside');
      const details = objectAt(objectAt(body, 'connected_account'), 'authorization_details');
      Object.assign(details, { [name]: 'injected' });
      const answer = await server.call('POST', PATH, { body });
      expect(answer.body, name).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.text).not.to.include('injected');
    }
  });
});
