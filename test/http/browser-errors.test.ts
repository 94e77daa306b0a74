import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const PAGE = 'text/html; charset=utf-8';
const PROBLEM = 'application/problem+json';

/** An address, its method, the status of its error, and a sentence of its page. */
const CASES = [
  ['GET', '/nothing', 404, 'The path does not exist.'],
  ['GET', '/api/v1/nothing', 404, 'The path does not exist.'],
  ['GET', '/docs/nothing', 404, 'The page does not exist.'],
  ['GET', '/docs/guides/nothing', 404, 'The page does not exist.'],
  ['GET', '/icons/%', 404, 'The page does not exist.'],
  ['GET', '/console/assets/nothing.js', 404, 'The file does not exist.'],
  ['GET', '/oauth/token', 405, 'The path does not support this method (supported: POST).'],
  ['POST', '/docs', 405, 'The path does not support this method (supported: GET, HEAD).'],
] as const;

describe('errors at addresses that people open in a browser', () => {
  let server: TestServer;
  let fault: Error | undefined;

  before(async () => {
    const readiness = async () => {
      if (fault) throw fault;
      return { database: true, keys: true };
    };
    server = await startTestServer({ overrides: { readiness } });
  });
  after(() => server.stop());
  afterEach(() => {
    fault = undefined;
  });

  const open = (path: string, accept: string, method = 'GET', headers: Record<string, string> = {}) =>
    server.call(method, path, { token: null, headers: { accept, ...headers } });

  for (const [method, path, status, text] of CASES) {
    it(`show a page to a browser, and a problem document to other clients: ${method} ${path}`, async () => {
      const page = await open(path, CHROMIUM, method);
      expect(page.status).to.equal(status);
      expect(page.headers).to.include({ 'content-type': PAGE, 'cache-control': 'no-store', vary: 'accept' });
      expect(page.text).to.include(text).and.include('href="/"').and.include(String(page.headers['x-request-id']));
      expect(page.text).not.to.match(/<script|<style|style="|\son\w+="/);
      expect(page.headers['content-security-policy']).to.include("default-src 'none'").and.not.include('script');
      for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.9', 'text/html;q=0, */*']) {
        const problem = await open(path, accept, method);
        expect(problem.status, accept).to.equal(status);
        expect(problem.headers, accept).to.include({ 'content-type': PROBLEM, vary: 'accept' });
        expect(problem.headers['allow'], accept).to.equal(page.headers['allow']);
      }
    });
  }

  it('say on the page when the server failed, and how to find the cause', async () => {
    fault = new Error('a fault of the test');
    const { status, headers, text } = await open('/', CHROMIUM);
    expect(status).to.equal(500);
    expect(headers['content-type']).to.equal(PAGE);
    expect(text).to.include('Internal error').and.include('Try again').and.include(String(headers['x-request-id']));
    expect(text).not.to.include('a fault of the test');
    expect((await open('/', '*/*')).headers['content-type']).to.equal(PROBLEM);
  });

  it('show a page for a host that the server does not know', async () => {
    const { status, headers } = await open('/', CHROMIUM, 'GET', { host: 'unknown.example' });
    expect(status).to.equal(421);
    expect(headers['content-type']).to.equal(PAGE);
  });

  it('send the headers of the page for HEAD', async () => {
    const { status, headers, text } = await open('/nothing', CHROMIUM, 'HEAD');
    expect(status).to.equal(404);
    expect(headers['content-type']).to.equal(PAGE);
    expect(text).to.equal('');
  });

  it('stay problem documents for operations of the contract and for MCP', async () => {
    const operation = await open('/api/v1/tools', CHROMIUM);
    expect(operation.status).to.equal(401);
    expect(operation.headers['content-type']).to.equal(PROBLEM);
    const tool = await server.call('GET', '/api/v1/tools/nothing', { headers: { accept: CHROMIUM } });
    expect(tool.status).to.equal(404);
    expect(tool.headers['content-type']).to.equal(PROBLEM);
    expect((await open('/mcp/nothing', CHROMIUM)).headers['content-type']).not.to.equal(PAGE);
  });

  it('contain no markup that a request brought along', async () => {
    const { text } = await open('/%3Cimg%20src=x%3E?<b>', CHROMIUM, 'GET', { 'x-request-id': '<img>' });
    expect(text).not.to.match(/<img src="?x|<b>|<img>/);
  });
});
