import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

describe('updateEnvironment', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const update = (body: unknown) => server.call('PUT', '/api/v1/environment', { body });
  const read = async () => (await server.call('GET', '/api/v1/environment')).body.environment;

  it('changes the given settings, and nothing else', async () => {
    const urls = ['https://app.example/verify?tenant=1', 'http://localhost:3000/verify', 'https://app.example'];
    const first = await update({ user_verify_urls: urls });
    expect(first.status, first.text).to.equal(200);
    expect(first.body.environment).to.deep.include({ user_verify_urls: urls, link_lifetime_seconds: 900 });
    const second = await update({ link_lifetime_seconds: 3600 });
    expect(second.body.environment).to.deep.include({ user_verify_urls: urls, link_lifetime_seconds: 3600 });
    expect(await read()).to.deep.equal(second.body.environment);
    const [entry] = await auditOf(server, second.body.environment.id);
    expect(entry).to.deep.include({ action: 'environment.updated', details: { fields: ['link_lifetime_seconds'] } });
  });

  it('sets how long executions are kept, and with which contents', async () => {
    expect(await read()).to.include({ execution_retention_days: 90, keep_execution_contents: false });
    const changed = await update({ execution_retention_days: 7, keep_execution_contents: true });
    expect(changed.body.environment).to.include({ execution_retention_days: 7, keep_execution_contents: true });
    for (const days of [0, 3651, 1.5]) expect((await update({ execution_retention_days: days })).status).to.equal(400);
    const cleared = await update({ execution_retention_days: null, keep_execution_contents: null });
    expect(cleared.body.environment).to.include({ execution_retention_days: 90, keep_execution_contents: false });
  });

  it('F7: sets how long records of the audit log are kept, without limit by default', async () => {
    expect(await read()).to.include({ audit_retention_days: null });
    expect((await update({ audit_retention_days: 30 })).body.environment).to.include({ audit_retention_days: 30 });
    for (const days of [0, 3651, 1.5, '30']) {
      expect((await update({ audit_retention_days: days })).status, String(days)).to.equal(400);
    }
    expect(await read()).to.include({ audit_retention_days: 30 });
    expect((await update({ audit_retention_days: null })).body.environment).to.include({ audit_retention_days: null });
  });

  it('clears a setting with null', async () => {
    const answer = await update({ link_lifetime_seconds: null, user_verify_urls: null });
    expect(answer.body.environment).to.deep.include({ user_verify_urls: [], link_lifetime_seconds: 900 });
  });

  it('limits the lifetime of links to between a minute and a day', async () => {
    const statuses = await Promise.all(
      [59, 60, 86_400, 86_401, 60.5, '60'].map(async (life) => (await update({ link_lifetime_seconds: life })).status),
    );
    expect(statuses).to.deep.equal([400, 200, 200, 400, 400, 400]);
  });

  it('refuses every address that could mislead a user, and names it (L5)', async () => {
    const refused = [
      'http://app.example/verify',
      'https://user@app.example/verify',
      'https://user:pass@app.example/verify',
      'https://app.example/verify#fragment',
      'https://app.example/verify#',
      'https://*.example/verify',
      'https://app.example/*',
      'https://app.example/verify?auth_request_id=1',
      'https://app.example/verify?state=1',
      'https://APP.example/verify',
      'https://app.example:443/verify',
      'https://app.example/a/../verify',
      'https:\\\\app.example/verify',
      'https:app.example/verify',
      '//app.example/verify',
      '/verify',
      'javascript:alert(1)//',
      'data:text/html,x',
      ' https://app.example/verify',
      'https://app.example/ver\tify',
      'https://app.example/verify\n',
      'https://ap\u0001p.example',
      'http://localhost.evil.example/verify',
      'http://127.0.0.2/verify',
    ];
    for (const url of refused) {
      const answer = await update({ user_verify_urls: ['https://app.example/verify', url] });
      expect(answer.body, url).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal(['user_verify_urls[1]']);
    }
    expect((await read()).user_verify_urls).to.deep.equal([]);
  });

  it('accepts addresses of the same machine in development only', async () => {
    const local = { user_verify_urls: ['http://127.0.0.1:3000/verify', 'http://[::1]:3000/verify'] };
    expect((await update(local)).status).to.equal(200);
    const production = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
    expect((await production.call('PUT', '/api/v1/environment', { body: local })).status).to.equal(400);
    const real = { user_verify_urls: ['https://app.example/verify'] };
    expect((await production.call('PUT', '/api/v1/environment', { body: real })).status).to.equal(200);
    expect((await read()).user_verify_urls).to.deep.equal(local.user_verify_urls);
  });

  it('sets how users of MCP clients log in, and restores the defaults', async () => {
    const settings = {
      mcp_login_url: 'https://app.example/agents',
      mcp_dynamic_registration: false,
      mcp_trusted_client_hosts: ['client.example'],
      mcp_redirect_schemes: ['cursor', 'com.acme.app'],
    };
    expect((await update(settings)).status).to.equal(200);
    expect(await read()).to.deep.include(settings);
    const cleared = Object.fromEntries(Object.keys(settings).map((name) => [name, null]));
    expect((await update(cleared)).status).to.equal(200);
    expect(await read()).to.deep.include({
      mcp_login_url: null,
      mcp_dynamic_registration: true,
      mcp_trusted_client_hosts: [],
      mcp_redirect_schemes: ['cursor'],
    });
  });

  it('rejects a login page, a host and a scheme that users must not be sent to, and changes nothing', async () => {
    for (const [setting, value, field] of [
      ['mcp_login_url', 'http://app.example/', 'mcp_login_url'],
      ['mcp_login_url', 'https://app.example/?login_request=x', 'mcp_login_url'],
      ['mcp_login_url', 'javascript:alert(1)', 'mcp_login_url'],
      ['mcp_trusted_client_hosts', ['client.example', 'https://client.example'], 'mcp_trusted_client_hosts[1]'],
      ['mcp_trusted_client_hosts', ['CLIENT.example'], 'mcp_trusted_client_hosts[0]'],
      ['mcp_trusted_client_hosts', ['client.example:444'], 'mcp_trusted_client_hosts[0]'],
      ['mcp_trusted_client_hosts', ['*.example'], 'mcp_trusted_client_hosts[0]'],
      ['mcp_redirect_schemes', ['javascript'], 'mcp_redirect_schemes[0]'],
      ['mcp_redirect_schemes', ['http'], 'mcp_redirect_schemes[0]'],
      ['mcp_redirect_schemes', ['Cursor'], 'mcp_redirect_schemes[0]'],
      ['mcp_redirect_schemes', ['a:b'], 'mcp_redirect_schemes[0]'],
    ] as const) {
      const answer = await update({ [setting]: value });
      expect(answer.body, String(value)).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.errors[0].field).to.equal(field);
    }
    expect(await read()).to.deep.include({ mcp_login_url: null, mcp_trusted_client_hosts: [] });
  });

  describe('the branding of link pages', () => {
    const brand = {
      application_name: 'Contoso <b>Äpp</b>',
      accent_color: '#0B6E4F',
      support_url: 'mailto:help@contoso.example',
      privacy_url: 'https://contoso.example/privacy',
      terms_url: 'https://contoso.example/terms',
    };
    const logo = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')}`;

    it('is stored, shown on a page in escaped form, and cleared with null', async () => {
      const answer = await update({ ...brand, logo });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.environment).to.deep.include({ ...brand, accent_color: '#0b6e4f' });
      expect(await read()).to.deep.equal(answer.body.environment);
      const cleared = Object.fromEntries([...Object.keys(brand), 'logo'].map((name) => [name, null]));
      expect((await update(cleared)).status).to.equal(200);
      const none = { application_name: null, accent_color: null, support_url: null, logo_url: null };
      expect(await read()).to.deep.include(none);
    });

    it('serves the logo as an image without scripts, and no longer after it is removed', async () => {
      const { logo_url: url } = (await update({ logo })).body.environment;
      const { pathname, search } = new URL(url);
      const served = await fetch(`${server.origin}${pathname}${search}`);
      expect(served.status).to.equal(200);
      expect(await served.text()).to.equal('<svg xmlns="http://www.w3.org/2000/svg"/>');
      expect(served.headers.get('content-type')).to.equal('image/svg+xml');
      expect(served.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(served.headers.get('content-security-policy')).to.include("default-src 'none'").and.include('sandbox');
      expect((await update({ logo: null })).body.environment.logo_url).to.equal(null);
      expect((await fetch(`${server.origin}${pathname}${search}`)).status).to.equal(404);
    });

    it('rejects values that could mislead users or run code, and names them', async () => {
      const svg = (text: string) => `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;
      for (const [field, value] of [
        ['application_name', ''],
        ['application_name', 'x'.repeat(61)],
        ['application_name', 'Contoso\n'],
        ['accent_color', 'red'],
        ['accent_color', '#fff;}'],
        ['support_url', 'javascript:alert(1)'],
        ['privacy_url', 'mailto:help@contoso.example'],
        ['terms_url', 'http://contoso.example'],
        ['terms_url', '/terms'],
        // Browsers resolve this relative to a page that is served over https.
        ['support_url', 'https:contoso.example'],
        ['logo', 'https://contoso.example/logo.png'],
        ['logo', 'data:text/html;base64,PGI+'],
        ['logo', svg('<svg><script>alert(1)</script></svg>')],
        ['logo', 'data:image/png;base64,PGI+'],
      ] as const) {
        const answer = await update({ [field]: value });
        expect(answer.status, `${field} ${value}`).to.equal(400);
        expect(answer.body.errors[0].field).to.equal(field);
      }
    });
  });
});
