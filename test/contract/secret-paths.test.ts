import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { secretPaths } from '../../scripts/secret-paths.ts';
import { contract } from './contract.ts';

/**
 * Every place of the interface that contains a secret. The list is written by hand, so that a lost mark or a secret in
 * a new place is noticed.
 */
const PINNED = [
  'completeMcpLogin 200 $.continue_url',
  'completeMcpLogin request $.login_request',
  'createApiClient 201 $.client_secret',
  'createConnectedAccount 201 $.connected_account.authorization_details.oauth_token.access_token',
  'createConnectedAccount 201 $.connected_account.authorization_details.oauth_token.refresh_token',
  'createConnectedAccount 201 $.connected_account.authorization_details.static_auth.details',
  'createConnectedAccount 201 $.connected_account.authorization_details.trusted_idp.secret_access_key',
  'createConnectedAccount 201 $.connected_account.authorization_details.trusted_idp.session_token',
  'createConnectedAccount 201 $.connected_account.authorization_details.workspace_dwd.access_token',
  'createConnectedAccount request $.connected_account.authorization_details.oauth_token.access_token',
  'createConnectedAccount request $.connected_account.authorization_details.oauth_token.refresh_token',
  'createConnectedAccount request $.connected_account.authorization_details.static_auth.details',
  'createConnection request $.client_secret',
  'createMcpClient 201 $.client_secret',
  'createMcpSessionToken 201 $.token',
  'createOperatorSession 201 $.login_url',
  'createPortalSession 201 $.url',
  'createWebhookEndpoint 201 $.secret',
  'generateMagicLink 200 $.link',
  'getConnectedAccountAuth 200 $.connected_account.authorization_details.oauth_token.access_token',
  'getConnectedAccountAuth 200 $.connected_account.authorization_details.oauth_token.refresh_token',
  'getConnectedAccountAuth 200 $.connected_account.authorization_details.static_auth.details',
  'getConnectedAccountAuth 200 $.connected_account.authorization_details.trusted_idp.secret_access_key',
  'getConnectedAccountAuth 200 $.connected_account.authorization_details.trusted_idp.session_token',
  'getConnectedAccountAuth 200 $.connected_account.authorization_details.workspace_dwd.access_token',
  'issueToken 200 $.access_token',
  'issueToken 200 $.refresh_token',
  'issueToken request $.client_assertion',
  'issueToken request $.client_secret',
  'issueToken request $.code',
  'issueToken request $.code_verifier',
  'issueToken request $.refresh_token',
  'registerOAuthClient 201 $.client_secret',
  'revokeOAuthToken request $.client_assertion',
  'revokeOAuthToken request $.client_secret',
  'revokeOAuthToken request $.token',
  'rotateApiClientSecret 200 $.client_secret',
  'rotateWebhookSecret 200 $.secret',
  'setMcpLoginProvider request $.client_secret',
  'updateConnectedAccount 200 $.connected_account.authorization_details.oauth_token.access_token',
  'updateConnectedAccount 200 $.connected_account.authorization_details.oauth_token.refresh_token',
  'updateConnectedAccount 200 $.connected_account.authorization_details.static_auth.details',
  'updateConnectedAccount 200 $.connected_account.authorization_details.trusted_idp.secret_access_key',
  'updateConnectedAccount 200 $.connected_account.authorization_details.trusted_idp.session_token',
  'updateConnectedAccount 200 $.connected_account.authorization_details.workspace_dwd.access_token',
  'updateConnectedAccount request $.connected_account.authorization_details.oauth_token.access_token',
  'updateConnectedAccount request $.connected_account.authorization_details.oauth_token.refresh_token',
  'updateConnectedAccount request $.connected_account.authorization_details.static_auth.details',
  'updateConnection request $.client_secret',
  'verifyUser request $.auth_request_id',
];

describe('secret paths', () => {
  it('are equal to the reviewed list', () => {
    expect(secretPaths(contract)).to.deep.equal(PINNED);
  });

  it('are equal to those that the server loads', () => {
    const file = new URL('../../generated/secret-paths.json', import.meta.url);
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.deep.equal(PINNED);
  });

  it('follow references, unions, lists and maps', () => {
    const secret = { type: 'string', 'x-secret': true };
    const document: JsonObject = {
      paths: {
        '/a': {
          post: {
            operationId: 'a',
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } },
            responses: { '200': { content: { 'application/json': { schema: { additionalProperties: secret } } } } },
          },
        },
      },
      components: {
        schemas: {
          A: { oneOf: [{ properties: { one: secret } }, { $ref: '#/components/schemas/B' }] },
          B: { properties: { list: { items: { properties: { two: secret, three: {} } } } } },
        },
      },
    };
    expect(secretPaths(document)).to.deep.equal(['a 200 $.*', 'a request $.list[*].two', 'a request $.one']);
  });
});
