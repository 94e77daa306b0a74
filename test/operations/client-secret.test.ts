import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const pemOf = (options: { modulusLength: number } | { namedCurve: string }) => {
  const pair =
    'namedCurve' in options
      ? generateKeyPairSync('ec', options)
      : generateKeyPairSync('rsa', options as { modulusLength: number });
  return String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
};
const RSA = pemOf({ modulusLength: 2048 });
const P256 = pemOf({ namedCurve: 'P-256' });
const TRUNCATED = RSA.slice(0, 300);
const FILE = {
  type: 'service_account',
  client_email: 'robot@acme.iam.example',
  private_key: RSA,
  token_uri: 'https://oauth2.example/token',
};
const ADDRESSES = { authorize_uri: 'https://as.example/authorize', token_uri: 'https://as.example/token' };
const PATTERNS = {
  OAUTH: { type: 'OAUTH', oauth_config: ADDRESSES },
  POST: { type: 'OAUTH_M2M', oauth_config: { ...ADDRESSES, client_auth_method: 'client_secret_post' } },
  KEY: { type: 'OAUTH_M2M', oauth_config: { ...ADDRESSES, client_auth_method: 'private_key_jwt' } },
  SMART: { type: 'SMART_FHIR', oauth_config: { client_auth_method: 'private_key_jwt' } },
  DWD: { type: 'WORKSPACE_DWD', oauth_config: { token_uri: 'https://oauth2.example/token' } },
};

describe('the client secret of a connection', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const provide = async (pattern: keyof typeof PATTERNS) =>
    (await createProvider(server, { auth_patterns: [PATTERNS[pattern]], proxy_url: 'https://api.example' })).identifier;

  const unusable: [pattern: keyof typeof PATTERNS, what: string, secret: string, reason: RegExp][] = [
    ['DWD', 'text that is not JSON', 'not-json', /key file of a service account/],
    ['DWD', 'the file of another kind of client', JSON.stringify({ ...FILE, type: 'authorized_user' }), /"type"/],
    ['DWD', 'a file whose key is cut', JSON.stringify({ ...FILE, private_key: TRUNCATED }), /"private_key"/],
    ['DWD', 'the bare key of the file', RSA, /key file of a service account/],
    ['DWD', 'a file without an address', JSON.stringify({ ...FILE, token_uri: 'oauth2.example' }), /"token_uri"/],
    [
      'DWD',
      'the file of another provider',
      JSON.stringify({ ...FILE, token_uri: 'https://oauth2.example.net/token' }),
      /at oauth2\.example\.net.* at oauth2\.example\./,
    ],
    ['KEY', 'a client secret', 'a-plain-secret', /must be a private key/],
    ['KEY', 'a key that is cut', TRUNCATED, /must be a private key/],
    ['KEY', 'a public key as a JWK', JSON.stringify({ kty: 'RSA', n: 'AQAB', e: 'AQAB' }), /must be a private key/],
    ['SMART', 'a key on a curve that record systems do not take', P256, /P-384/],
    ['OAUTH', 'a private key', RSA, /not a private key/],
    ['POST', 'a private key', RSA, /not a private key/],
    ['POST', 'the key file of a service account', JSON.stringify(FILE), /not a private key/],
    ['KEY', 'a short RSA key', pemOf({ modulusLength: 1024 }), /2048 bits/],
    ['OAUTH', 'a set of private keys', '{"keys":[{"kty":"EC","d":"d-of-the-key"}]}', /not a private key/],
    ['OAUTH', 'a list with a private key', '[{"kty":"EC","d":"d-of-the-key"}]', /not a private key/],
    [
      'OAUTH',
      'the file of a client',
      '{"web":{"client_id":"app","client_secret":"GOCSPX-0123456789"}}',
      /the client secret alone/,
    ],
    [
      'OAUTH',
      'the file of a client with a byte order mark',
      '\uFEFF{"web":{"client_secret":"GOCSPX-0123456789"}}',
      /the client secret alone/,
    ],
    ['OAUTH', 'a secret with a byte order mark', '\uFEFFsecret-of-the-client-0123456789', /invisible characters/],
    ['POST', 'a secret with a zero-width space', 'secret-of-the-client\u200B', /invisible characters/],
    ['OAUTH', 'a secret with a line break', 'secret-of-the-client-0123456789\n', /line breaks/],
    [
      'OAUTH',
      'a private key as a JWK',
      JSON.stringify({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd' }),
      /not a private key/,
    ],
  ];
  for (const [pattern, what, secret, reason] of unusable) {
    it(`is rejected for ${pattern} when it is ${what}, on create and on update`, async () => {
      const connector = await provide(pattern);
      const body = { connector, key_id: `of-${connector}`, client_id: 'app', client_secret: secret };
      const created = await server.call('POST', '/api/v1/connections', { body });
      const { id } = await createConnection(server, { connector });
      const updated = await server.call('PUT', `/api/v1/connections/${id}`, {
        body: { organization_name: 'Acme', client_secret: secret },
      });
      for (const answer of [created, updated]) {
        expect(answer.body, answer.text).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0].field).to.equal('client_secret');
        expect(answer.body.errors[0].message).to.match(reason);
        expect(answer.text).not.to.include(secret.slice(0, 40).replaceAll('\n', '\\n'));
      }
      const { body: after } = await server.call('GET', `/api/v1/connections/${id}`);
      expect(after.connection).to.include({ has_client_secret: false, organization_name: '' });
      const { body: list } = await server.call('GET', '/api/v1/connections');
      expect(list.connections.some(({ key_id }: { key_id: string }) => key_id === `of-${connector}`)).to.equal(false);
    });
  }

  for (const [pattern, secret] of [
    ['OAUTH', 'a-plain-secret'],
    ['OAUTH', '{"not":"a key"}'],
    ['POST', '{half of JSON'],
    ['KEY', RSA],
    ['KEY', P256],
    ['SMART', RSA],
    ['DWD', JSON.stringify(FILE)],
    ['DWD', `\uFEFF${JSON.stringify(FILE)}`],
    ['KEY', `\uFEFF${RSA}`],
    ['SMART', `\uFEFF${RSA}`],
  ] as const) {
    it(`is accepted for ${pattern} when it is ${secret.slice(0, 14)}`, async () => {
      const connection = await createConnection(server, { connector: await provide(pattern), client_secret: secret });
      expect(connection.has_client_secret).to.equal(true);
    });
  }
});
