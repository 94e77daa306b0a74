import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import {
  accountOf,
  browserFor,
  makeLink,
  returned,
  startLinkServer,
  submitLink,
  verifyUser,
  walk,
} from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

const FHIR_BASE = 'https://ehr.example/fhir/r4';

describe('a link to a record system (SMART on FHIR)', () => {
  let ehr: AuthorizationServer;
  let server: TestServer;

  before(async () => {
    ehr = await startAuthorizationServer({ name: 'ehr', fhirBase: FHIR_BASE });
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: ehr.override } });
  });
  after(async () => {
    await server.stop();
    await ehr.stop();
  });

  async function connectorFor(base: string): Promise<string> {
    const pattern = { type: 'SMART_FHIR', display_name: 'Record system' };
    const proxy = { proxy_enabled: true, proxy_url: base };
    const provider = await createProvider(server, { auth_patterns: [pattern], ...proxy });
    const client = { client_id: `app-${base.length}`, client_secret: 'a-secret-of-the-app' };
    const connection = await createConnection(server, {
      connector: provider.identifier,
      scopes: ['openid'],
      ...client,
    });
    await ehr.register({ ...client, redirect_uris: [`${server.origin}/oauth/callback/${connection.id}`] });
    return connection.key_id;
  }

  it('finds its endpoints, asks for its own FHIR server, and keeps who the patient is', async () => {
    const connector = await connectorFor(FHIR_BASE);
    const options = { connector, identifier: 'doctor@app.example', user_id: 'doctor' };
    const start = await submitLink(browserFor(ehr), await makeLink(server, options));
    expect(new URL(start.location as string).searchParams.get('aud')).to.equal(FHIR_BASE);
    const { authRequestId } = returned(await walk(browserFor(ehr), await makeLink(server, options), 'doctor'));
    expect((await verifyUser(server, authRequestId, options.identifier)).status).to.equal(200);
    const account = await accountOf(server, options.identifier);
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${account?.id}`);
    expect(body.connected_account).to.deep.include({ status: 'ACTIVE', authorization_type: 'SMART_FHIR' });
    expect(body.connected_account.api_config).to.deep.equal({ patient: '42', encounter: 'e-1' });
  });

  it('leads nowhere where there is no SMART configuration', async () => {
    const connector = await connectorFor('https://ehr.example/elsewhere');
    await ehr.stop();
    const page = await submitLink(browserFor(ehr), await makeLink(server, { connector }));
    expect(page.status).to.equal(502);
    expect(page.text).to.match(/name this request: <code>req_/);
  });
});
