import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { Secret } from '../../core/secret.ts';
import { readSmartClientKey } from '../../core/smart-fhir/client-key.ts';
import { closeAll } from '../core/net/local.ts';
import { FHIR_BASE, type RecordSystem, startRecordSystem } from '../core/smart-fhir/record-system.ts';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import { requestLink } from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { rsaPair } from '../support/rsa-pair.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';

const SCOPE = { scope: 'system/Patient.rs', display_name: 'Read all patients', required: true };
const CONFIG = { client_auth_method: 'private_key_jwt', available_scopes: [SCOPE] };
const FIELDS = [
  { field_name: 'client_id', label: 'Client id', input_type: 'text', required: true },
  { field_name: 'private_key', label: 'Key', input_type: 'textarea', required: true },
];

const PEMS = {
  'service-rsa': rsaPair('client').privateKey,
  'service-ec': generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
};
const keyOf = (name: keyof typeof PEMS) => String(PEMS[name].export({ type: 'pkcs8', format: 'pem' }));

describe('a backend service of an electronic health record (SMART on FHIR), over sockets', () => {
  let system: RecordSystem;
  let server: TestServer;

  beforeEach(async () => {
    const backend = {
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'private_key_jwt',
      scope: 'system/Patient.rs',
    };
    const jwksOf = (name: keyof typeof PEMS) => ({ keys: [readSmartClientKey(new Secret(keyOf(name))).publicJwk] });
    system = await startRecordSystem([
      { client_id: 'service-rsa', jwks: jwksOf('service-rsa'), token_endpoint_auth_signing_alg: 'RS384', ...backend },
      { client_id: 'service-ec', jwks: jwksOf('service-ec'), token_endpoint_auth_signing_alg: 'ES384', ...backend },
    ]);
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: system.override } });
  });
  afterEach(async () => {
    await server.stop();
    await closeAll();
  });

  async function connectorFor(client: Record<string, unknown>, fields?: object[]) {
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: FHIR_BASE,
      auth_patterns: [{ type: 'SMART_FHIR', oauth_config: CONFIG, ...(fields && { fields }) }],
    });
    return createConnection(server, { connector: identifier, ...client });
  }

  async function connect(name: keyof typeof PEMS, key = keyOf(name)): Promise<string> {
    const { key_id: connector } = await connectorFor({ client_id: name, client_secret: key });
    return (await createAccount(server, { connector, connectedAccount: {} })).id;
  }

  const read = (id: string) => execute(server, id, 'http_get', { path: '/Patient/42' });

  it('is refused with another key, and stays active (negative control)', async () => {
    const id = await connect('service-rsa', String(generateKey().export({ type: 'pkcs8', format: 'pem' })));
    expect((await read(id)).body.tool_error).to.include({ kind: 'upstream_auth', retryable: false });
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
  });

  it('accepts only the kinds of keys that health record systems accept (negative control)', async () => {
    const small = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const pem = String(small.export({ type: 'pkcs8', format: 'pem' }));
    const refused = await connect('service-ec', pem).catch((error: Error) => error.message);
    expect(refused).to.contain('client_secret').and.contain('P-384');
    expect(system.received).to.deep.equal([]);
  });

  for (const [name, alg] of [
    ['service-rsa', 'RS384'],
    ['service-ec', 'ES384'],
  ] as const) {
    it(`authenticates with ${alg}, finds the token endpoint by itself, and shares one token between 20 callers (R1)`, async () => {
      const id = await connect(name);
      const answers = await Promise.all(Array.from({ length: 20 }, () => read(id)));
      for (const { body, text } of answers) expect(body.data, text).to.deep.equal({});
      expect(system.received).to.have.length(1);
      const header = decodeProtectedHeader(system.received[0]?.get('client_assertion') ?? '');
      expect(header).to.include({ alg, typ: 'JWT' });
      expect(header.kid).to.be.a('string');
    });
  }

  it('works with the machine client pattern of the built-in connector, and finds its token endpoint by discovery', async () => {
    const client = { client_id: 'service-ec', client_secret: keyOf('service-ec'), scopes: ['system/Patient.rs'] };
    const fields = { connector: 'smart_fhir', type: 'OAUTH_M2M', ...client };
    const { key_id: connector, status } = await createConnection(server, fields);
    expect(status).to.equal('COMPLETED');
    const connectedAccount = { api_config: { fhir_base_url: FHIR_BASE } };
    const { id } = await createAccount(server, { connector, connectedAccount });
    const readRaw = () => server.call('GET', '/api/v1/proxy/Patient/42', { headers: { 'valetkey-account-id': id } });
    const answer = await readRaw();
    expect(answer.status, answer.text).to.equal(200);
    expect(system.received).to.have.length(1);
    const header = decodeProtectedHeader(system.received[0]?.get('client_assertion') ?? '');
    expect(header).to.include({ alg: 'ES384', typ: 'JWT' });
    expect((await readRaw()).status).to.equal(200);
    expect(system.received).to.have.length(1);
  });

  it('signs each assertion separately: a repeated one is rejected (jti)', async () => {
    const id = await connect('service-rsa');
    await read(id);
    const [sent] = system.received;
    expect(await system.replay(sent as URLSearchParams)).to.deep.equal({ status: 401, error: 'invalid_client' });
    expect((await read(await connect('service-rsa'))).status).to.equal(200);
    const assertions = system.received.map((form) => form.get('client_assertion'));
    expect(new Set(assertions).size).to.equal(2);
  });

  it('may have a separate key for each account, which is never returned', async () => {
    const { key_id: connector } = await connectorFor({}, FIELDS);
    const details = { client_id: 'service-ec', private_key: keyOf('service-ec') };
    const { id } = await createAccount(server, {
      connector,
      connectedAccount: { authorization_details: { static_auth: { details } } },
    });
    expect((await read(id)).status).to.equal(200);
    const shown = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    expect(shown.body.connected_account.authorization_details).to.deep.equal({
      static_auth: { details: { client_id: 'service-ec' } },
    });
  });

  it('reports an unreachable FHIR server as a temporary failure', async () => {
    const id = await connect('service-rsa');
    await closeAll();
    expect((await read(id)).body.tool_error).to.include({ kind: 'upstream_unreachable', retryable: true });
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
  });

  it('has no links, because it needs no user', async () => {
    const { key_id: connector } = await connectorFor({ client_id: 'service-rsa', client_secret: keyOf('service-rsa') });
    expect((await requestLink(server, { connector })).body).to.include({ code: 'UNSUPPORTED_CONNECTION_TYPE' });
  });

  it('deletes its token when the key of the connection changes, and works again after it was disconnected (R3)', async () => {
    const { id: connectionId, key_id: connector } = await connectorFor({
      client_id: 'service-rsa',
      client_secret: keyOf('service-rsa'),
    });
    const { id } = await createAccount(server, { connector, connectedAccount: {} });
    await read(id);
    const change = { client_id: 'service-ec', client_secret: keyOf('service-ec') };
    await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: change });
    expect((await accountRow(server, id)).temporarySealed).to.equal(null);
    expect((await read(id)).status).to.equal(200);
    expect(decodeProtectedHeader(system.received[1]?.get('client_assertion') ?? '').alg).to.equal('ES384');
    await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id } });
    expect((await read(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
    const body = { id, connected_account: { authorization_details: {} } };
    expect((await server.call('PUT', '/api/v1/connected_accounts', { body })).body.connected_account.status).to.equal(
      'ACTIVE',
    );
    expect((await read(id)).status).to.equal(200);
  });
});

function generateKey() {
  return rsaPair('next client').privateKey;
}
