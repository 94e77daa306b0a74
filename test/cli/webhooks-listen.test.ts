import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { runCommand } from '../support/child-server.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { verifyDelivery, type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const PROGRAM = join(import.meta.dirname, '../../cli/valetkey.js');

describe('valetkey webhooks listen', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  const env = () => ({
    VALETKEY_URL: world.server.origin,
    VALETKEY_CLIENT_ID: CLIENT_ID,
    VALETKEY_CLIENT_SECRET: CLIENT_SECRET,
  });
  const listen = (settings: Record<string, string> = {}, ...args: string[]) =>
    runCommand(['webhooks', 'listen', '--forward-to', world.url, ...args], { ...env(), ...settings });

  it('forwards events, signed with the secret that it prints, until it is interrupted', async () => {
    await world.server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
    const args = [PROGRAM, 'webhooks', 'listen', '--forward-to', world.url];
    const child = spawn(process.execPath, args, { env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit');
    const firstLine = once(createInterface({ input: child.stderr }), 'line');
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    // The stream begins with the next event, so events are caused until the first one has arrived.
    while (lines.length === 0) {
      await world.cause();
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill('SIGINT');
    expect((await ended)[0]).to.equal(0);
    const [secret = ''] = /whsec_\S+/.exec(String((await firstLine)[0])) ?? [];
    const [first] = world.received();
    if (!first) throw new Error('nothing was forwarded');
    const event = verifyDelivery(secret, first);
    expect(event.type).to.equal('environment.updated');
    expect(lines[0]).to.equal(`environment.updated  ${event.id}  204`);
  });

  it('prints the reason why the server refuses the stream', async () => {
    const refused = await listen();
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('EVENTS_NOT_KEPT').and.to.include('Set keep_events');
    const wrong = await listen({ VALETKEY_CLIENT_SECRET: 'vks_another-secret-of-some-client' });
    expect(wrong.code).to.equal(4);
    expect(wrong.stderr).to.include('the server returned 401').and.not.to.include('another-secret');
  });

  it('accepts the IPv6 address of loopback', async () => {
    const { code, stderr } = await runCommand(['webhooks', 'listen', '--forward-to', 'http://[::1]:1/hook'], env());
    expect([code, stderr]).to.satisfy(() => code === 1 && stderr.includes('EVENTS_NOT_KEPT'));
  });

  for (const args of [
    [],
    ['--forward-to', 'https://app.example/hook'],
    ['--forward-to', 'file:///etc/passwd'],
    ['--forward-to', 'http://localhost:1', '--colour'],
  ]) {
    it(`rejects ${args.join(' ') || 'no address'}`, async () => {
      expect((await runCommand(['webhooks', 'listen', ...args], env())).code).to.equal(2);
    });
  }
});
