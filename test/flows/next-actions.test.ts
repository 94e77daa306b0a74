import { expect } from 'chai';
import type { AuthPattern } from '../../core/connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../../core/connectors/provider.ts';
import { ApiError } from '../../core/errors.ts';
import { signingCredential } from '../../core/executions/signing.ts';
import type { ConnectionRow } from '../../db/store.ts';
import { keyFile } from '../core/workspace-dwd/delegation-server.ts';
import { createAccount } from '../support/accounts.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { rsaPair } from '../support/rsa-pair.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const APP = 'https://api.acme.example';
const AS = 'https://auth.acme.example';
const CLOUD = 'https://sts.eu-west-1.amazonaws.com';
const TOKEN_URI = `${AS}/token`;
const PEM = String(rsaPair('client').privateKey.export({ type: 'pkcs8', format: 'pem' }));

const CLIENT = { client_id: 'the-client', client_secret: 'the-secret-of-the-client' };
const TYPED = [
  { field_name: 'client_id', label: 'Client id', input_type: 'text', required: true },
  { field_name: 'client_secret', label: 'Client secret', input_type: 'password', required: true },
];
const OAUTH = { authorize_uri: `${AS}/authorize`, token_uri: TOKEN_URI };
const SYSTEM = { scope: 'system/Patient.rs', display_name: 'Read', required: true };
const GRANT = { access_token: 'a-token-0123', refresh_token: 'a-refresh-token' };
const fixed = (details: object) => ({ static_auth: { details } });

interface Kind {
  pattern: { type: string } & Record<string, unknown>;
  /** The settings of the connection. */
  client?: Record<string, unknown>;
  details?: object;
}

/** All ways in which an account can get its credentials. */
const KINDS = {
  OAUTH: { pattern: { type: 'OAUTH', oauth_config: OAUTH }, client: CLIENT, details: { oauth_token: GRANT } },
  'OAUTH_M2M of the connection': {
    pattern: { type: 'OAUTH_M2M', oauth_config: { token_uri: TOKEN_URI } },
    client: CLIENT,
  },
  'OAUTH_M2M of the account': {
    pattern: { type: 'OAUTH_M2M', oauth_config: { token_uri: TOKEN_URI }, fields: TYPED },
    details: fixed(CLIENT),
  },
  'SMART_FHIR of a user': {
    pattern: { type: 'SMART_FHIR', oauth_config: OAUTH },
    client: CLIENT,
    details: { oauth_token: GRANT },
  },
  'SMART_FHIR of a backend service': {
    pattern: {
      type: 'SMART_FHIR',
      oauth_config: { token_uri: TOKEN_URI, client_auth_method: 'private_key_jwt', available_scopes: [SYSTEM] },
    },
    client: { client_id: 'the-client', client_secret: PEM },
  },
  WORKSPACE_DWD: {
    pattern: { type: 'WORKSPACE_DWD', oauth_config: { token_uri: TOKEN_URI } },
    client: { client_id: '1040', client_secret: keyFile({ token_uri: TOKEN_URI }).reveal(), scopes: ['mail.read'] },
    details: { workspace_dwd: { subject: 'maria@acme.example' } },
  },
  BOARD_OAUTH1: {
    pattern: {
      type: 'BOARD_OAUTH1',
      oauth_config: { ...OAUTH, request_token_uri: `${AS}/request`, signature_method: 'HMAC-SHA1' },
    },
    client: CLIENT,
    details: { oauth_token: { access_token: 'a-board-token' } },
  },
  API_KEY: { pattern: { type: 'API_KEY' }, details: fixed({ api_key: 'a-key-0123' }) },
  BEARER_TOKEN: { pattern: { type: 'BEARER_TOKEN' }, details: fixed({ token: 'a-token-0123' }) },
  BASIC: { pattern: { type: 'BASIC' }, details: fixed({ username: 'ada', password: 'a-password' }) },
  BASIC_AUTH: { pattern: { type: 'BASIC_AUTH' }, details: fixed({ username: 'ada', password: 'a-password' }) },
  CUSTOM: {
    pattern: {
      type: 'CUSTOM',
      fields: [
        {
          field_name: 'key',
          label: 'Key',
          input_type: 'password',
          required: true,
          placement: { in: 'header', name: 'X-Key' },
        },
      ],
    },
    details: fixed({ key: 'a-key-0123' }),
  },
} satisfies Record<string, Kind>;

type KindName = keyof typeof KINDS;

type Failure =
  /** The application rejects the credential and every newer one. */
  | 'credential refused'
  /** The response of the token endpoint. */
  | { error: string; error_description?: string; status?: number }
  | 'token endpoint down'
  | Partial<Kind>;

interface Expected {
  status: number;
  code: string;
  operation?: string;
  type?: string;
  /** Matches the part of the detail that names the rejected or missing value. */
  says: RegExp;
}

const LINK = { operation: 'generateMagicLink', type: 'reauthorize' };
const UPDATE = { operation: 'updateConnectedAccount', type: 'reauthorize' };
const CONNECTION = { operation: 'updateConnection', type: 'configure' };
const FAILED = { status: 502, code: 'TOOL_FAILED' };
const ENDED = { status: 409, code: 'ACCOUNT_NOT_ACTIVE' };

const refused = { error: 'invalid_client', status: 401 };
const noGrant = { error: 'invalid_grant' };
const ofConnection = /client, the secret or the settings of the connection/;
const ofAccount = /credentials or the settings of the account/;

const TABLE: [KindName, string, Failure, Expected][] = [
  ['OAUTH', 'the token is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['OAUTH', 'the client is refused', refused, { ...FAILED, ...CONNECTION, says: ofConnection }],
  ['OAUTH', 'the grant has ended', noGrant, { ...FAILED, ...LINK, says: /returned 401/ }],
  ['OAUTH', 'its scopes are refused', { error: 'invalid_scope' }, { ...FAILED, ...CONNECTION, says: ofConnection }],
  ['OAUTH', 'the token endpoint is down', 'token endpoint down', { ...FAILED, says: /could not be renewed/ }],
  [
    'OAUTH_M2M of the connection',
    'the token is refused',
    'credential refused',
    { ...FAILED, ...CONNECTION, says: /returned 401/ },
  ],
  ['OAUTH_M2M of the connection', 'the client is refused', refused, { ...FAILED, ...CONNECTION, says: ofConnection }],
  ['OAUTH_M2M of the connection', 'it is given no token', noGrant, { ...FAILED, ...CONNECTION, says: ofConnection }],
  [
    'OAUTH_M2M of the connection',
    'the token endpoint is down',
    'token endpoint down',
    { ...FAILED, says: /No token could be obtained/ },
  ],
  [
    'OAUTH_M2M of the account',
    'the token is refused',
    'credential refused',
    { ...FAILED, ...LINK, says: /returned 401/ },
  ],
  ['OAUTH_M2M of the account', 'the client is refused', refused, { ...FAILED, ...LINK, says: ofAccount }],
  ['OAUTH_M2M of the account', 'it is given no token', noGrant, { ...FAILED, ...LINK, says: ofAccount }],
  ['SMART_FHIR of a user', 'the token is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['SMART_FHIR of a user', 'the client is refused', refused, { ...FAILED, ...CONNECTION, says: ofConnection }],
  [
    'SMART_FHIR of a backend service',
    'the token is refused',
    'credential refused',
    { ...FAILED, ...CONNECTION, says: /returned 401/ },
  ],
  [
    'SMART_FHIR of a backend service',
    'the client is refused',
    refused,
    { ...FAILED, ...CONNECTION, says: ofConnection },
  ],
  ['WORKSPACE_DWD', 'the token is refused', 'credential refused', { ...FAILED, ...UPDATE, says: /returned 401/ }],
  [
    'WORKSPACE_DWD',
    'the key is refused',
    { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
    { ...FAILED, ...CONNECTION, says: /key of the service account.*the settings of the connection/ },
  ],
  [
    'WORKSPACE_DWD',
    'the delegation does not reach so far',
    { error: 'unauthorized_client', status: 401 },
    { ...FAILED, ...CONNECTION, says: /act for the subject with these scopes.*the settings of the connection/ },
  ],
  [
    'WORKSPACE_DWD',
    'the subject is refused',
    { error: 'invalid_grant', error_description: 'Invalid email or User ID' },
    { ...ENDED, ...UPDATE, says: /rejected the subject of the account/ },
  ],
  [
    'WORKSPACE_DWD',
    'the connection has no scopes',
    { client: { client_id: '1040', client_secret: keyFile({ token_uri: TOKEN_URI }).reveal() } },
    { ...FAILED, ...CONNECTION, says: /has no scopes.*the settings of the connection/ },
  ],
  [
    'WORKSPACE_DWD',
    'the token endpoint is down',
    'token endpoint down',
    { ...FAILED, says: /No token could be obtained/ },
  ],
  ['BOARD_OAUTH1', 'the token is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['API_KEY', 'the key is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['BEARER_TOKEN', 'the token is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['BASIC', 'the password is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['BASIC_AUTH', 'the password is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
  ['CUSTOM', 'the key is refused', 'credential refused', { ...FAILED, ...LINK, says: /returned 401/ }],
];

describe('the next action', () => {
  let app: Upstream;
  let as: Upstream;
  let cloud: Upstream;
  let server: TestServer;

  before(async () => {
    [app, as, cloud] = [await startUpstream(), await startUpstream(), await startUpstream()];
    const overrides = [app.endpointOverride(APP), as.endpointOverride(AS), cloud.endpointOverride(CLOUD)].join(',');
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides } });
  });
  after(async () => {
    await server.stop();
    for (const upstream of [app, as, cloud]) await upstream.stop();
  });
  beforeEach(() => {
    app.handler = (_request, res) => json(res, 200, {});
    as.handler = (_request, res) =>
      json(res, 200, { access_token: 'fresh-token-01', token_type: 'Bearer', expires_in: 3600 });
  });

  async function connect({ pattern, client = {}, details }: Kind) {
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: APP,
      auth_patterns: [pattern],
    });
    const connection = await createConnection(server, { connector: identifier, ...client });
    const connectedAccount = details ? { authorization_details: details } : {};
    const account = await createAccount(server, { connector: connection.key_id, connectedAccount });
    return { id: account.id, connectionId: connection.id as string };
  }

  function fail(failure: Failure): void {
    if (typeof failure === 'object' && !('error' in failure)) return;
    app.handler = (_request, res) => json(res, 401, {});
    if (failure === 'credential refused') return;
    as.handler = (_request, res) => {
      if (failure === 'token endpoint down') return json(res, 503, {});
      const { status = 400, ...body } = failure as { status?: number };
      return json(res, status, body);
    };
  }

  const run = (id: string) => execute(server, id, 'http_get', { path: '/things' });

  for (const [name, what, failure, expected] of TABLE) {
    it(`${name}: ${what}: ${expected.operation ?? 'none, because the call can be tried again'}`, async () => {
      const changed = typeof failure === 'object' && !('error' in failure) ? failure : {};
      const { id } = await connect({ ...(KINDS[name] as Kind), ...changed });
      fail(failure);
      const { body, text } = await run(id);
      const { status, code, operation, type, says } = expected;
      expect(body, text).to.include({ status, code });
      expect(body.detail).to.match(says);
      expect(body.detail).not.to.match(/expired|PENDING|EXPIRED/);
      if (operation) expect(body.next_action, text).to.include({ type, operation_id: operation });
      else expect(body.tool_error.retryable, text).to.equal(true);
      if (!operation) expect(body).not.to.have.property('next_action');
      // A retry shortly afterwards returns the same action.
      if (code === 'TOOL_FAILED' && operation) {
        const again = (await run(id)).body;
        expect(again.next_action).to.include({ type, operation_id: operation });
      }
    });
  }

  it('leads to success: the next call succeeds after the named operation', async () => {
    const { id, connectionId } = await connect(KINDS['OAUTH_M2M of the connection']);
    const isRight = ({ headers }: { headers: Record<string, string> }) =>
      headers['authorization'] === `Basic ${btoa('the-client:the-right-secret-01')}`;
    as.handler = (request, res) =>
      isRight(request)
        ? json(res, 200, { access_token: 'fresh-token-01', token_type: 'Bearer', expires_in: 3600 })
        : json(res, 401, { error: 'invalid_client' });
    const { body } = await run(id);
    expect(body.next_action.operation_id).to.equal('updateConnection');
    const change = { client_id: 'the-client', client_secret: 'the-right-secret-01' };
    expect((await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: change })).status).to.equal(200);
    expect((await run(id)).status).to.equal(200);
  });

  it('is the connection while it lacks settings, because no link works before', async () => {
    for (const kind of [KINDS.OAUTH, KINDS['OAUTH_M2M of the connection'], KINDS.WORKSPACE_DWD] as Kind[]) {
      const { identifier } = await createProvider(server, {
        proxy_enabled: true,
        proxy_url: APP,
        auth_patterns: [kind.pattern],
      });
      const connection = await createConnection(server, { connector: identifier });
      expect(connection.status).to.equal('DRAFT');
      const body = { connector: connection.key_id, identifier: 'ada', user_id: 'user-1' };
      const made = await server.call('POST', '/api/v1/connected_accounts', { body });
      const { account } = { account: made.body.connected_account };
      if (account.status === 'ACTIVE') continue;
      const answer = await run(account.id);
      expect(answer.body).to.include({
        status: 409,
        code: 'ACCOUNT_NOT_ACTIVE',
        detail: 'The account is not connected.',
      });
      expect(answer.body.next_action).to.include({ type: 'configure', operation_id: 'updateConnection' });
    }
  });

  it('is the connection when calls cannot be signed without its client', async () => {
    const { id } = await connect(KINDS.BOARD_OAUTH1);
    const { environmentId, connectionId } = await accountRow(server, id);
    const { store, vault, catalogue, now, random } = server.parts;
    const connection = (await store.read.connections.get(environmentId, connectionId)) as ConnectionRow;
    const party = {
      account: { apiConfig: {} },
      connection: { ...connection, clientId: null },
      provider: catalogue.provider('github') as ProviderDefinition,
      pattern: KINDS.BOARD_OAUTH1.pattern as unknown as AuthPattern,
    };
    const details = { oauth_token: { access_token: 'a-board-token', token_secret: 'a-secret' } };
    expect(() => signingCredential(party, details, { vault, now, random } as never))
      .to.throw(ApiError, 'The connection has no client_id.')
      .with.nested.property('extra.next_action.operation_id', 'updateConnection');
  });

  it('X14: explains to users why an account cannot be used, without the name of a status', async () => {
    const { id } = await connect(KINDS.API_KEY);
    const { environmentId } = await accountRow(server, id);
    for (const status of ['PENDING_AUTH', 'PENDING_VERIFICATION', 'EXPIRED', 'DISCONNECTED'] as const) {
      const from = ['ACTIVE', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'EXPIRED'] as const;
      const to = { status, reason: null, updatedAt: 1 };
      await server.parts.store.write((tx) => tx.accounts.setStatus(environmentId, id, [...from], to));
      const { detail, next_action: action } = (await run(id)).body;
      for (const text of [detail, action.message]) {
        expect(text).to.match(/^[A-Z][a-z ,]+\./);
        expect(text).not.to.match(/[A-Z]{2,}/);
      }
    }
  });

  describe('for an account of a cloud', () => {
    const ROLE = {
      role_arn: 'arn:aws:iam::123456789012:role/reader',
      region: 'eu-west-1',
      database: 'dev',
      workgroup_name: 'reports',
    };

    const refusedBy = (code: string) => {
      cloud.handler = (_request, res) =>
        res
          .writeHead(400, { 'content-type': 'text/xml' })
          .end(`<ErrorResponse><Error><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`);
    };
    const connectedAccount = { api_config: ROLE, authorization_details: { trusted_idp: {} } };
    const runStatement = async () => {
      const { id } = await createAccount(server, { connector: 'redshift', connectedAccount });
      return execute(server, id, 'redshift_execute_statement', { sql: 'select 1' });
    };

    for (const code of ['InvalidIdentityToken', 'IDPRejectedClaim', 'ExpiredTokenException']) {
      it(`is the connection when the cloud refuses its identity token (${code})`, async () => {
        refusedBy(code);
        const { body, text } = await runStatement();
        expect(body, text).to.include(FAILED);
        expect(body.next_action, text).to.include({ type: CONNECTION.type, operation_id: CONNECTION.operation });
        expect(body.detail)
          .to.match(/No token could be obtained.*identity token of the connection/)
          .and.match(ofConnection);
      });
    }

    it('is empty while the cloud cannot respond', async () => {
      refusedBy('ServiceUnavailable');
      const { body, text } = await runStatement();
      expect(body.tool_error?.retryable, text).to.equal(true);
      expect(body).not.to.have.property('next_action');
    });

    it('is the account when the cloud does not let it assume its role', async () => {
      cloud.handler = (_request, res) =>
        res
          .writeHead(403, { 'content-type': 'text/xml' })
          .end('<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>');
      const connectedAccount = { api_config: ROLE, authorization_details: { trusted_idp: {} } };
      const { id } = await createAccount(server, { connector: 'redshift', connectedAccount });
      const { body, text } = await execute(server, id, 'redshift_execute_statement', { sql: 'select 1' });
      expect(body, text).to.include(FAILED);
      expect(body.next_action).to.include({ operation_id: 'updateConnectedAccount' });
      expect(body.detail).to.match(
        /No token could be obtained.*assume its role \(AccessDenied\).*settings of the account/,
      );
      const record = await finishedExecution(server, body.execution_id);
      expect(record).to.include({ status: 'FAILED', error_kind: 'upstream_auth' });
    });
  });
});
