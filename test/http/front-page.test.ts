import { expect } from 'chai';
import { programVersion } from '../../core/program-version.ts';
import { testClock } from '../support/clock.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('the front page of a server', () => {
  let server: TestServer;
  let ready = true;
  const clock = testClock();

  before(async () => {
    server = await startTestServer({
      env: {
        VALETKEY_CONSOLE: 'off',
        VALETKEY_SECURITY_CONTACT: 'mailto:security@acme.example, https://acme.example/report',
      },
      overrides: { now: clock.now, readiness: async () => ({ database: ready, keys: true }) },
    });
  });
  after(() => server.stop());
  afterEach(() => {
    ready = true;
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    server.call('GET', path, { token: null, headers });

  it('is JSON for a terminal, and ends with a newline', async () => {
    const { status, headers, body, text } = await get('/');
    expect(status).to.equal(200);
    expect(headers).to.include({ 'content-type': 'application/json', 'cache-control': 'no-store', vary: 'accept' });
    expect(body).to.include({ name: 'Valetkey', version: programVersion(), state: 'ready' });
    expect(body.openapi).to.equal('http://localhost/openapi.json');
    expect(text).to.match(/}\n$/);
  });

  it('is a page for a browser, with valid links', async () => {
    const { headers, text } = await get('/', HTML);
    expect(headers).to.include({ 'content-type': 'text/html; charset=utf-8', vary: 'accept' });
    expect(headers['content-security-policy']).to.include("script-src 'self'").and.not.include('unsafe');
    expect(text).to.include('Ready').and.include(programVersion());
    const links = [...text.matchAll(/href="([^"#]+)/g)].map(([, link = '']) => link);
    expect(links).to.include.members(['/docs', '/docs/guides', '/docs/guides/mcp', '/openapi.json']);
    for (const link of new Set(links)) expect((await get(link)).status, link).to.equal(200);
  });

  it('links to the console if the server has one', async () => {
    expect((await get('/', HTML)).text).not.to.include('href="/console"');
    const other = await startTestServer({ env: { VALETKEY_CONSOLE: 'on' } });
    const page = await other.call('GET', '/', { token: null, headers: HTML });
    expect(page.text).to.include('href="/console"');
    expect((await other.call('GET', '/', { token: null })).body.console).to.equal('http://localhost/console');
    await other.stop();
  });

  it('reports when the server is not ready', async () => {
    ready = false;
    expect((await get('/')).body.state).to.equal('not_ready');
    expect((await get('/', HTML)).text).to.include('Not ready');
  });

  it('returns 421 for a host without an environment', async () => {
    expect((await get('/', { host: 'unknown.example' })).status).to.equal(421);
  });

  it('returns 405 for other methods', async () => {
    const { status, headers } = await server.call('POST', '/', { token: null });
    expect([status, headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('has a security.txt that says where to report a vulnerability (RFC 9116)', async () => {
    const { headers, text } = await get('/.well-known/security.txt');
    expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
    const expires = /^Expires: (\S+)$/m.exec(text)?.[1] ?? '';
    expect(Date.parse(expires) - clock.now()).to.be.within(1, 365 * 24 * 60 * 60 * 1000);
    expect(text.replace(expires, 'DATE').split('\n')).to.deep.equal([
      'Contact: mailto:security@acme.example',
      'Contact: https://acme.example/report',
      'Expires: DATE',
      'Canonical: http://localhost/.well-known/security.txt',
      '',
    ]);
  });

  it('lists the documentation for language models, with valid links', async () => {
    const { text } = await get('/llms.txt');
    expect(text).to.match(/^# Valetkey\n\n> /);
    const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link = '']) => link);
    expect(links).to.include('/docs/guides/mcp.md');
    for (const link of links) expect((await get(link)).status, link).to.equal(200);
  });

  it('has an icon', async () => {
    expect((await get('/favicon.ico')).headers['content-type']).to.equal('image/x-icon');
    expect((await get('/favicon.svg')).headers['content-type']).to.equal('image/svg+xml');
  });
});
