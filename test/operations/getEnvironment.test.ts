import { expect } from 'chai';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

describe('getEnvironment', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('returns the environment of the host, with its initial settings', async () => {
    const { id, createdAt } = await firstEnvironment(server);
    const answer = await server.call('GET', '/api/v1/environment');
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.environment).to.deep.equal({
      id,
      kind: 'DEVELOPMENT',
      base_url: 'http://localhost',
      hosts: ['localhost'],
      link_lifetime_seconds: 900,
      user_verify_urls: [],
      application_name: null,
      logo_url: null,
      accent_color: null,
      support_url: null,
      privacy_url: null,
      terms_url: null,
      execution_retention_days: 90,
      audit_retention_days: null,
      keep_execution_contents: false,
      keep_events: false,
      mcp_login_url: null,
      mcp_dynamic_registration: true,
      mcp_trusted_client_hosts: [],
      mcp_redirect_schemes: ['cursor'],
      created_at: new Date(createdAt).toISOString(),
    });
  });

  it('returns another environment at another host', async () => {
    const other = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
    const answer = await other.call('GET', '/api/v1/environment');
    expect(answer.body.environment).to.include({ id: other.environment.id, kind: 'PRODUCTION' });
    expect(answer.body.environment.hosts).to.deep.equal([other.host]);
  });
});
