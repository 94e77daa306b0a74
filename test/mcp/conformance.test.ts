import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { MCP_SCOPES } from '../../core/mcp-login/scopes.ts';
import { createMcpEntryPoint, type McpEntryPoint, type McpServing } from '../../http/entry-points/mcp.ts';
import { createPipeline } from '../../http/pipeline/pipeline.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { conformanceServer } from './conformance-fixture.ts';

const PACKAGE = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance');
const run = promisify(execFile);

/** Runs the protocol's suite against the server's own MCP endpoint; only the tools are those of the suite. */
describe('MCP conformance', () => {
  let server: TestServer;
  let entryPoint: McpEntryPoint;
  let listener: Server;

  before(async () => {
    server = await startTestServer();
    const grant = {
      clientId: 'cli_conformance',
      sessionClient: 'cli_conformance',
      user: { organizationId: undefined, userId: 'u', identifier: 'u' },
    };
    const rights = { userVerifyUrl: null, mayConnect: false, scopes: MCP_SCOPES, expiresAt: Number.MAX_SAFE_INTEGER };
    const pipeline = createPipeline(server.parts);
    const serving: McpServing = {
      factory: conformanceServer,
      authenticate: async (environment, id, _token, requestId) => ({
        environment,
        server: { id, name: 'conformance', mappings: [] },
        grant: { ...grant, ...rights },
        requestId,
      }),
    };
    entryPoint = createMcpEntryPoint(server.parts, serving, pipeline);
    listener = createServer(pipeline.listen(entryPoint));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await entryPoint.close();
    listener.closeAllConnections();
    listener.close();
    await server.stop();
  });

  for (const revision of ['2025-11-25', '2026-07-28']) {
    const required = parse(readFileSync(join(PACKAGE, `requirements/${revision}.yaml`), 'utf8')).server as string[];

    it(`of revision ${revision}: each of the ${required.length} required server scenarios passes`, async () => {
      const results = mkdtempSync(join(tmpdir(), 'conformance-'));
      const { port } = listener.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/mcp/conformance`;
      const args = [join(PACKAGE, 'dist/index.js'), 'server', '--url', url, '--requirements', revision, '-o', results];
      try {
        // Every scenario must pass: no list of expected failures is given.
        const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 26 });
        const passed = required.filter((scenario) => new RegExp(`^✓ ${scenario}: [1-9]`, 'm').test(stdout));
        expect(passed).to.deep.equal(required);
      } finally {
        rmSync(results, { recursive: true });
      }
    });
  }
});
