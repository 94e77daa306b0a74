import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { browserFor, connectUser, makeLink, startLinkServer, submitLink } from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

const FHIR_BASE = 'https://ehr.example/fhir/r4';

describe('a link to an electronic health record (SMART on FHIR)', () => {
  let ehr: AuthorizationServer;
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    ehr = await startAuthorizationServer({ name: 'ehr', fhirBase: FHIR_BASE });
    clock = testClock(Date.now());
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: ehr.override },
      overrides: { now: clock.now },
    });
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

  it('finds its endpoints, names its own FHIR server as the audience, and stores the patient', async () => {
    const connector = await connectorFor(FHIR_BASE);
    const start = await submitLink(browserFor(ehr), await makeLink(server, { connector }));
    expect(new URL(start.location as string).searchParams.get('aud')).to.equal(FHIR_BASE);
    const account = await connectUser(server, browserFor(ehr), connector, 'doctor');
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${account.id}`);
    expect(body.connected_account).to.deep.include({ status: 'ACTIVE', authorization_type: 'SMART_FHIR' });
    expect(body.connected_account.api_config).to.deep.equal({ patient: '42', encounter: 'e-1' });
  });

  it('removes the patient of an earlier launch when the user grants access again, and no refresh sets one', async () => {
    const connector = await connectorFor(FHIR_BASE);
    const authorize = () => connectUser(server, browserFor(ehr), connector, 'nurse');
    const shown = async () => {
      const { body } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
      return body.connected_account;
    };
    const { id } = await authorize();
    expect((await shown()).api_config).to.deep.equal({ patient: '42', encounter: 'e-1' });
    ehr.launchContext = { patient: '43' };
    await authorize();
    const before = await shown();
    expect(before.api_config).to.deep.equal({ patient: '43' });
    clock.advance(3_600_000);
    const after = await shown();
    expect(after).to.deep.include({ status: 'ACTIVE', api_config: { patient: '43' } });
    expect(after.authorization_details.oauth_token.access_token).not.to.equal(
      before.authorization_details.oauth_token.access_token,
    );
    expect(ehr.sent('/token').at(-1)).to.include({ grant_type: 'refresh_token' });
  });

  it('shows an error if the SMART configuration is missing', async () => {
    const connector = await connectorFor('https://ehr.example/elsewhere');
    await ehr.stop();
    const page = await submitLink(browserFor(ehr), await makeLink(server, { connector }));
    expect(page.status).to.equal(502);
    expect(page.text).to.match(/Reference for support: <code>req_/);
  });
});
