import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { TestBrowser } from '../support/browser.ts';
import { ADA, allow, type LoginWorld, loginRequestOf, startLoginWorld } from '../support/mcp-login.ts';

const PACKAGE = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance');
const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];
const AUTHORIZE = /https?:\/\/\S+\/oauth\/authorize\?\S+/;

/**
 * Runs the scenarios of the protocol's suite for authorization servers. The suite prints an address for the user to
 * open.
 */
describe('MCP conformance of the authorization server', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  /** Logs in at the address, and returns to the suite with the code. */
  async function logIn(address: string): Promise<void> {
    const browser = new TestBrowser();
    const { body } = await world.complete(loginRequestOf(await browser.open(address)), ADA);
    const consent = await browser.follow(await browser.open(body.continue_url));
    const sent = await allow(browser, consent);
    await browser.open(sent.location as string);
  }

  it('passes every check of both scenarios, without expected failures', async () => {
    const results = mkdtempSync(join(tmpdir(), 'conformance-'));
    const port = String(await freePort());
    const { body } = await world.register({ redirect_uris: [`http://127.0.0.1:${port}/callback`] });
    const options = ['--url', world.server.origin, '--client-id', body.client_id, '--resource', world.resource];
    const args = [join(PACKAGE, 'dist/index.js'), 'authorization', ...options, '-p', port, '-o', results];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let opened = false;
    const read = (data: Buffer) => {
      output += String(data);
      const [address] = AUTHORIZE.exec(output) ?? [];
      if (address === undefined || opened) return;
      opened = true;
      logIn(address).catch((error: Error) => {
        output += error.stack;
        child.kill();
      });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    try {
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect(code, output).to.equal(0);
      for (const scenario of SCENARIOS) expect(output, output).to.include(scenario);
      expect(output).to.not.match(/FAILURE|WARNING|[1-9]\d* (failed|warnings?)/);
    } finally {
      rmSync(results, { recursive: true });
    }
  });
});
