import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useEverything } from '../../scripts/bench/everything.ts';
import { environmentOf, prepare, REQUESTS, type Subject } from '../../scripts/bench/subject.ts';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Lists the modules of the program that the main thread loads, and makes one response fail. */
const BEFORE = `import { registerHooks } from 'node:module';
import { ServerResponse } from 'node:http';
registerHooks({ load(url, context, next) {
  if (url.startsWith('file:') && !url.includes('/node_modules/')) console.error('loaded ' + url);
  return next(url, context);
} });
const writeHead = ServerResponse.prototype.writeHead;
ServerResponse.prototype.writeHead = function (...args) {
  if (this.req.headers['x-planted']) throw new Error('planted');
  return writeHead.apply(this, args);
};`;

describe('the built server', () => {
  const folder = tempDir();
  let upstream: Server;
  let server: ChildServer;
  let port: number;
  let subject: Subject;
  const planted = Promise.withResolvers<string>();

  before(async () => {
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build-server.ts')]);
    upstream = createServer((_req, res) => res.setHeader('content-type', 'application/json').end('{"number":42}'));
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const settings = environmentOf(folder.path, (upstream.address() as AddressInfo).port);
    server = await startChildServer({ ...settings, VALETKEY_BUILT: '1' }, { before: BEFORE, onLog });
    port = Number(new URL(server.origin).port);
    subject = await prepare(port, 2);
  });

  function onLog(line: string): void {
    if (line.includes('"message":"planted"'))
      planted.resolve((JSON.parse(line) as { err: { stack: string } }).err.stack);
  }

  after(async () => {
    await server.stop('SIGKILL');
    upstream.close();
    folder.remove();
  });

  it('serves documents, searches, lists, an import and MCP', () => useEverything(port, subject.token, subject));

  for (const operation of ['get-auth', 'list', 'execute-tool', 'proxy', 'mcp-2026', 'mcp-2025']) {
    it(`serves ${operation}`, async () => {
      const { method, path, type, body, headers, anonymous } = REQUESTS[operation]?.(subject, 0) ?? { path: '' };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        ...(method && { method }),
        ...(body !== undefined && { body }),
        headers: {
          ...(anonymous ? {} : { authorization: `Bearer ${subject.token}` }),
          ...(type && { 'content-type': type }),
          ...headers,
        },
      });
      expect([response.status, await response.text()]).to.have.nested.property('[0]', 200);
    });
  }

  it('serves pages with the same status as a server that runs from the sources', async () => {
    const sources = await startChildServer({ DATA_DIR: join(folder.path, 'other') });
    try {
      for (const path of ['/docs/guides/operations', '/connect', '/portal', '/console', '/connect.js']) {
        const [built, plain] = await Promise.all([fetch(`${server.origin}${path}`), fetch(`${sources.origin}${path}`)]);
        expect(built.status, path).to.equal(plain.status);
        expect(await built.text(), path).to.have.length.above(0);
      }
    } finally {
      await sources.stop();
    }
  });

  it('loads no module of the program from its source in the main thread, except those that generated validators load', () => {
    const loaded = [...server.errors().matchAll(/^loaded (.*)$/gm)].map(([, url = '']) =>
      url.split(/\/(?=build\/)/).at(-1),
    );
    expect(loaded).to.include.members(['build/server/main.js', 'build/server/docs.js']);
    const ownUse =
      /^build\/server\/|\/cli\/valetkey\.js$|\/generated\/|\/http\/validation\/(count-characters|formats)\.ts$|\/core\/text\//;
    expect(loaded.filter((name) => !ownUse.test(name ?? ''))).to.deep.equal([]);
  });

  it('names files and lines of the sources in the stacks of its log', async () => {
    await fetch(`${server.origin}/healthz`, { headers: { 'x-planted': '1' } }).catch(() => undefined);
    const stack = await planted.promise;
    expect(stack).not.to.include('build/server/');
    const [, file = '', line] = /\(((?:http|core|cli)\/[\w/-]+\.ts):(\d+)\)/.exec(stack) ?? [];
    expect(readFileSync(join(ROOT, file), 'utf8').split('\n')[Number(line) - 1], stack).to.include('writeHead');
  });

  it('does not report its own variable as an unknown setting', () => {
    expect(server.logs.join('\n')).not.to.include('VALETKEY_BUILT');
  });
});
