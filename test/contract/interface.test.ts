import { expect } from 'chai';
import { authorizationTypes } from '../../core/authorization/registry.ts';
import { VENDORS } from '../../core/connections/vendor.ts';
import { ERRORS } from '../../core/errors.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { arrayAt, bodiesOf, objectAt, operationsOf, resolve } from '../../scripts/openapi-document.ts';
import { OAUTH_OPERATIONS } from '../support/contract-requests.ts';
import { contract, operation } from './contract.ts';

/** All operations, one line each: the id, the method, the path and the scope. */
const OPERATIONS = `
listConnectedAccounts get /api/v1/connected_accounts accounts:read
createConnectedAccount post /api/v1/connected_accounts accounts:write
updateConnectedAccount put /api/v1/connected_accounts accounts:write
getConnectedAccountAuth get /api/v1/connected_accounts/auth credentials:read
getConnectedAccountDetails get /api/v1/connected_accounts/details accounts:read
generateMagicLink post /api/v1/connected_accounts/magic_link accounts:write
verifyUser post /api/v1/connected_accounts/user/verify accounts:write
searchConnectedAccounts get /api/v1/connected_accounts:search accounts:read
checkConnectedAccount post /api/v1/connected_accounts:check accounts:write
refreshConnectedAccount post /api/v1/connected_accounts:refresh accounts:write
getRefreshStatistics get /api/v1/connected_accounts:refresh_statistics accounts:read
disconnectConnectedAccount post /api/v1/connected_accounts:disconnect accounts:write
deleteConnectedAccount post /api/v1/connected_accounts:delete accounts:write
listRevocations get /api/v1/revocations accounts:read
createCustomProvider post /api/v1/custom-providers providers:write
getCustomProvider get /api/v1/custom-providers/{identifier} providers:read
updateCustomProvider put /api/v1/custom-providers/{identifier} providers:write
deleteCustomProvider delete /api/v1/custom-providers/{identifier} providers:write
syncProviderTools post /api/v1/custom-providers/{identifier}:sync_tools tools:write
listProviders get /api/v1/providers providers:read
getProvider get /api/v1/providers/{identifier} providers:read
listConnections get /api/v1/connections connections:read
createConnection post /api/v1/connections connections:write
getConnection get /api/v1/connections/{connection_id} connections:read
updateConnection put /api/v1/connections/{connection_id} connections:write
deleteConnection delete /api/v1/connections/{connection_id} connections:write
checkConnection get /api/v1/connections/{connection_id}:check connections:write
enableConnection post /api/v1/connections/{connection_id}:enable connections:write
disableConnection post /api/v1/connections/{connection_id}:disable connections:write
listTools get /api/v1/tools tools:read
createTool post /api/v1/tools tools:write
listScopedTools get /api/v1/tools:scoped tools:read
searchTools get /api/v1/tools:search tools:read
importTools post /api/v1/tools:import tools:write
getTool get /api/v1/tools/{tool_name} tools:read
updateTool put /api/v1/tools/{tool_name} tools:write
deleteTool delete /api/v1/tools/{tool_name} tools:write
listToolOverlays get /api/v1/tool_overlays tools:read
getToolOverlay get /api/v1/tool_overlays/{tool_name} tools:read
setToolOverlay put /api/v1/tool_overlays/{tool_name} tools:write
deleteToolOverlay delete /api/v1/tool_overlays/{tool_name} tools:write
previewToolOverlay post /api/v1/tool_overlays/{tool_name}:preview tools:read
executeTool post /api/v1/execute_tool tools:execute
listMcpConfigs get /api/v1/mcp/configs connections:read
createMcpConfig post /api/v1/mcp/configs connections:write
getMcpConfig get /api/v1/mcp/configs/{config_id} connections:read
updateMcpConfig put /api/v1/mcp/configs/{config_id} connections:write
deleteMcpConfig delete /api/v1/mcp/configs/{config_id} connections:write
createMcpSessionToken post /api/v1/mcp/session_tokens tools:execute
createPortalSession post /api/v1/portal_sessions accounts:write
completeMcpLogin post /api/v1/mcp/logins:complete accounts:write
getMcpLoginProvider get /api/v1/mcp/login_provider admin
setMcpLoginProvider put /api/v1/mcp/login_provider admin
deleteMcpLoginProvider delete /api/v1/mcp/login_provider admin
listMcpClients get /api/v1/mcp/clients connections:read
createMcpClient post /api/v1/mcp/clients connections:write
deleteMcpClient delete /api/v1/mcp/clients/{client_id} connections:write
listMcpGrants get /api/v1/mcp/grants accounts:read
revokeMcpGrants post /api/v1/mcp/grants:revoke accounts:write
revokeMcpGrant post /api/v1/mcp/grants/{grant_id}:revoke accounts:write
listExecutions get /api/v1/executions tools:read
getExecutionStatistics get /api/v1/executions:statistics tools:read
getExecution get /api/v1/executions/{execution_id} tools:read
listEvents get /api/v1/events events:read
streamEvents get /api/v1/events:stream events:read
getEvent get /api/v1/events/{event_id} events:read
listAuditEvents get /api/v1/audit_events events:read
exportAuditEvents get /api/v1/audit_events:export events:read
verifyAuditEvents get /api/v1/audit_events:verify events:read
listWebhookEndpoints get /api/v1/webhook_endpoints events:read
createWebhookEndpoint post /api/v1/webhook_endpoints events:write
getWebhookEndpoint get /api/v1/webhook_endpoints/{endpoint_id} events:read
updateWebhookEndpoint put /api/v1/webhook_endpoints/{endpoint_id} events:write
deleteWebhookEndpoint delete /api/v1/webhook_endpoints/{endpoint_id} events:write
enableWebhookEndpoint post /api/v1/webhook_endpoints/{endpoint_id}:enable events:write
disableWebhookEndpoint post /api/v1/webhook_endpoints/{endpoint_id}:disable events:write
rotateWebhookSecret post /api/v1/webhook_endpoints/{endpoint_id}:rotate_secret events:write
testWebhookEndpoint post /api/v1/webhook_endpoints/{endpoint_id}:test events:write
redeliverWebhooks post /api/v1/webhook_endpoints/{endpoint_id}:redeliver events:write
listWebhookDeliveries get /api/v1/webhook_deliveries events:read
getWebhookDelivery get /api/v1/webhook_deliveries/{delivery_id} events:read
redeliverWebhook post /api/v1/webhook_deliveries/{delivery_id}:redeliver events:write
listJobs get /api/v1/jobs jobs:read
retryJob post /api/v1/jobs/{job_id}:retry jobs:write
downloadFile get /files/{file_token} none
listApiClients get /api/v1/api_clients admin
createApiClient post /api/v1/api_clients admin
disableApiClient post /api/v1/api_clients/{client_id}:disable admin
rotateApiClientSecret post /api/v1/api_clients/{client_id}:rotate_secret admin
listOperatorSessions get /api/v1/operator_sessions admin
createOperatorSession post /api/v1/operator_sessions admin
endOperatorSession post /api/v1/operator_sessions/{session_id}:end admin
getEnvironment get /api/v1/environment admin
updateEnvironment put /api/v1/environment admin
getServerSettings get /api/v1/server_settings admin
issueToken post /oauth/token none
registerOAuthClient post /oauth/register none
revokeOAuthToken post /oauth/revoke none
getAuthorizationServerMetadata get /.well-known/oauth-authorization-server none
getIdentityProviderMetadata get /.well-known/openid-configuration none
getJwks get /.well-known/jwks.json none
getHealth get /healthz none
getReadiness get /readyz none
`;

/** The statuses of an operation in addition to those of all operations of its kind. */
const OWN_STATUSES: Record<string, string[]> = {
  updateConnectedAccount: ['404'],
  getConnectedAccountAuth: ['404'],
  getConnectedAccountDetails: ['404'],
  checkConnectedAccount: ['404'],
  refreshConnectedAccount: ['404'],
  checkConnection: ['404'],
  disconnectConnectedAccount: ['404'],
  deleteConnectedAccount: ['404'],
  generateMagicLink: ['404'],
  verifyUser: ['404'],
  getCustomProvider: ['404'],
  updateCustomProvider: ['404', '409'],
  deleteCustomProvider: ['404'],
  syncProviderTools: ['404', '502'],
  getProvider: ['404'],
  getConnection: ['404'],
  updateConnection: ['404'],
  deleteConnection: ['404', '409'],
  enableConnection: ['404'],
  disableConnection: ['404'],
  getTool: ['404'],
  updateTool: ['404', '409'],
  deleteTool: ['404', '409'],
  getToolOverlay: ['404'],
  setToolOverlay: ['404', '409'],
  deleteToolOverlay: ['404'],
  previewToolOverlay: ['404', '409'],
  executeTool: ['404', '502', '504'],
  getMcpConfig: ['404'],
  updateMcpConfig: ['404', '409'],
  deleteMcpConfig: ['404'],
  createMcpSessionToken: ['404'],
  completeMcpLogin: ['404'],
  getMcpLoginProvider: ['404'],
  deleteMcpLoginProvider: ['404'],
  deleteMcpClient: ['404'],
  revokeMcpGrant: ['404'],
  getExecution: ['404'],
  retryJob: ['404'],
  getEvent: ['404'],
  streamEvents: ['404', '409'],
  getWebhookEndpoint: ['404'],
  updateWebhookEndpoint: ['404'],
  deleteWebhookEndpoint: ['404'],
  enableWebhookEndpoint: ['404'],
  disableWebhookEndpoint: ['404'],
  rotateWebhookSecret: ['404'],
  testWebhookEndpoint: ['404'],
  redeliverWebhooks: ['404'],
  getWebhookDelivery: ['404'],
  redeliverWebhook: ['404'],
  downloadFile: ['404'],
  disableApiClient: ['404'],
  rotateApiClientSecret: ['404'],
  createOperatorSession: ['404'],
  endOperatorSession: ['404'],
};

/** Statuses of the operations that take no bearer token. */
const PUBLIC_STATUSES: Record<string, string[]> = {
  issueToken: ['200', '400', '401', '413', '421', '429', '500', '503'],
  registerOAuthClient: ['201', '400', '403', '413', '421', '429', '500', '503'],
  revokeOAuthToken: ['200', '400', '401', '413', '421', '429', '500', '503'],
  getAuthorizationServerMetadata: ['200', '400', '421', '429', '500', '503'],
  getIdentityProviderMetadata: ['200', '400', '421', '429', '500', '503'],
  getJwks: ['200', '400', '421', '429', '500', '503'],
  getHealth: ['200', '400'],
  getReadiness: ['200', '400', '503'],
};

const CREATES = [
  'createConnectedAccount',
  'createCustomProvider',
  'createConnection',
  'createApiClient',
  'createOperatorSession',
  'createMcpConfig',
  'createMcpClient',
  'createMcpSessionToken',
  'createPortalSession',
  'createTool',
  'createWebhookEndpoint',
];

function schema(name: string): JsonObject {
  return resolve(contract, { $ref: `#/components/schemas/${name}` });
}

function properties(name: string): JsonObject {
  return objectAt(schema(name), 'properties');
}

describe('the interface', () => {
  it('has exactly these operations with these scopes', () => {
    const lines = operationsOf(contract).map(({ id, method, path, definition }) => {
      const [requirement] = arrayAt(definition, 'security') as JsonObject[];
      const scope = requirement ? arrayAt(requirement, 'oauth2').join() : 'none';
      return `${id} ${method} ${path} ${scope}`;
    });
    expect(lines).to.deep.equal(OPERATIONS.trim().split('\n'));
  });

  it('declares for each bearer operation exactly the statuses that it can return', () => {
    for (const { id, method, definition } of operationsOf(contract)) {
      if (arrayAt(definition, 'security').length === 0) continue;
      const wanted = new Set([CREATES.includes(id) ? '201' : '200', '400', '401', '403', '421', '429', '500', '503']);
      if (definition['requestBody']) for (const status of ['413', '415']) wanted.add(status);
      if (method === 'post') for (const status of ['409', '422']) wanted.add(status);
      for (const status of OWN_STATUSES[id] ?? []) wanted.add(status);
      expect(Object.keys(objectAt(definition, 'responses')).sort(), id).to.deep.equal([...wanted].sort());
    }
  });

  it('declares for each operation without a token exactly the statuses that it can return', () => {
    for (const [id, statuses] of Object.entries(PUBLIC_STATUSES)) {
      const { definition } = operation(id);
      expect(definition['security'], id).to.deep.equal([]);
      expect(Object.keys(objectAt(definition, 'responses')), id).to.have.members(statuses);
    }
  });

  it('returns no content for the deletion of an account, and an empty object for other deletions', () => {
    const contentOf = (id: string) => bodiesOf(contract, operation(id)).filter(({ side }) => side === '200');
    expect(contentOf('deleteConnectedAccount')).to.deep.equal([]);
    for (const id of ['deleteCustomProvider', 'deleteConnection', 'deleteTool']) {
      expect(contentOf(id)[0]?.media['schema'], id).to.deep.equal({ $ref: '#/components/schemas/EmptyObject' });
    }
  });

  it('returns errors as problem documents, and as OAuth errors at the token endpoint', () => {
    for (const found of operationsOf(contract)) {
      for (const { side, mediaType } of bodiesOf(contract, found)) {
        if (!/^[45]/.test(side) || (found.id === 'getReadiness' && side === '503')) continue;
        const wanted = OAUTH_OPERATIONS.includes(found.id) ? 'application/json' : 'application/problem+json';
        expect(mediaType, `${found.id} ${side}`).to.equal(wanted);
      }
    }
  });
});

describe('lists of the contract', () => {
  it('of error codes are equal to those in the code, and each error code is described or shown in an example', () => {
    const codes = arrayAt(schema('ErrorCode'), 'enum');
    expect(codes).to.have.members(Object.keys(ERRORS));
    const { components, ...rest } = contract;
    const { schemas: _schemas, ...shown } = components as JsonObject;
    const text = JSON.stringify([rest, shown]);
    expect(codes.filter((code) => !text.includes(String(code)))).to.deep.equal([]);
  });

  it('of scopes are equal to those in the code', () => {
    const schemes = objectAt(objectAt(contract, 'components'), 'securitySchemes');
    const flow = objectAt(objectAt(objectAt(schemes, 'oauth2'), 'flows'), 'clientCredentials');
    expect(Object.keys(objectAt(flow, 'scopes'))).to.have.members([...SCOPES]);
    expect(arrayAt(schema('Scope'), 'enum')).to.have.members([...SCOPES]);
  });

  it('of authorization types agree with each other and with the code', () => {
    expect(arrayAt(schema('AuthorizationType'), 'enum')).to.have.members([...authorizationTypes()]);
    const mapping = objectAt(objectAt(schema('AuthPattern'), 'discriminator'), 'mapping');
    expect(Object.keys(mapping)).to.have.members([...authorizationTypes()]);
    const branches = arrayAt(schema('AuthPattern'), 'oneOf') as { $ref: string }[];
    expect(branches.map(({ $ref }) => $ref)).to.deep.equal(Object.values(mapping));
    for (const [type, reference] of Object.entries(mapping)) {
      const tag = objectAt(objectAt(resolve(contract, { $ref: reference }), 'properties'), 'type');
      expect(tag, 'X18: some generators know const alone, others enum alone').to.include({ const: type });
      expect(tag['enum'], type).to.deep.equal([type]);
    }
    const signIn = ['OIDC', 'SAML', 'PASSWORD', 'PASSWORDLESS', 'WEBAUTHN'];
    expect(arrayAt(objectAt(properties('CreateConnectionRequest'), 'type'), 'enum')).to.have.members([
      ...authorizationTypes(),
      ...signIn,
    ]);
  });

  it('of identity providers are the vendors in the code, CUSTOM and the simulator', () => {
    expect(arrayAt(schema('IdentityProviderType'), 'enum')).to.have.members(['CUSTOM', 'IDP_SIMULATOR', ...VENDORS]);
  });
});

describe('schemas that belong together', () => {
  it('show an account in full, without secrets, and as a summary with the same fields', () => {
    const { api_config: _config, authorization_details: _full, ...summary } = properties('ConnectedAccount');
    const { authorization_details: _masked, ...details } = properties('ConnectedAccountDetails');
    expect(properties('ConnectedAccountSummary')).to.deep.equal(summary);
    expect(details).to.deep.equal({ ...summary, api_config: _config });
  });

  it('always return every field of an account, a connection and a provider', () => {
    const complete = ['ConnectedAccount', 'ConnectedAccountDetails', 'ConnectedAccountSummary'];
    for (const name of [
      ...complete,
      'Connection',
      'ConnectionConfiguration',
      'Provider',
      'Execution',
      'Tool',
      'Environment',
    ]) {
      expect(arrayAt(schema(name), 'required'), name).to.have.members(Object.keys(properties(name)));
    }
  });

  it('give a connection with settings every field of a connection', () => {
    expect(properties('ConnectionConfiguration')).to.deep.include(properties('Connection'));
  });

  it('extend a problem without changing its members', () => {
    for (const name of ['AccountStateProblem', 'UnknownOutcomeProblem', 'ExecutionProblem']) {
      expect(properties(name), name).to.deep.include(properties('Problem'));
      expect(arrayAt(schema(name), 'required'), name).to.include.members(arrayAt(schema('Problem'), 'required'));
    }
  });

  it('page every list in the same way', () => {
    for (const { id } of operationsOf(contract).filter(({ id }) => /^(list|search)/.test(id))) {
      // A ranking has no pages: it returns only the best results.
      if (id === 'searchTools') continue;
      const [answer] = bodiesOf(contract, operation(id)).filter(({ side }) => side === '200');
      const required = arrayAt(resolve(contract, answer?.media['schema']), 'required');
      expect(required, id).to.include.members(['next_page_token', 'prev_page_token', 'total_size']);
      expect(required, id).to.have.lengthOf(4);
    }
  });
});
