import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { blocksOf, readPage } from '../flows/markdown.ts';
import type { ReceivedRequest } from '../support/upstream.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const PROGRAM = blocksOf(readPage('docs/webhooks.md')).find(({ language }) => language === 'python')?.text ?? '';

describe('the receiver of docs/webhooks.md in Python', () => {
  let world: WebhookWorld;
  let receiver: ChildProcess;
  let address: string;
  let delivery: ReceivedRequest;

  before(async () => {
    world = await webhookWorld();
    const { secret } = await world.create({ event_types: ['environment.updated'] });
    await world.cause();
    await world.deliver();
    [delivery] = world.received() as [ReceivedRequest];
    const port = await freePort();
    address = `http://127.0.0.1:${port}/webhooks`;
    receiver = spawn('python3', ['-c', PROGRAM], {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    while (!(await fetch(address, { method: 'POST' }).catch(() => null))) {
      expect(receiver.exitCode, 'the program runs').to.equal(null);
      await pause(50);
    }
  });
  after(async () => {
    receiver.kill();
    if (receiver.exitCode === null) await once(receiver, 'exit');
    await world.stop();
  });

  async function send(headers: Record<string, string>, body = delivery.body): Promise<number> {
    const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signature = '' } = headers;
    const sent = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    return (await fetch(address, { method: 'POST', headers: sent, body })).status;
  }

  it('refuses a changed body, another id, another time and no signature', async () => {
    const { headers, body } = delivery;
    const old = String(Number(headers['webhook-timestamp']) - 1);
    expect(await send(headers, `${body} `), 'body').to.equal(400);
    expect(await send({ ...headers, 'webhook-id': 'evt_other' }), 'id').to.equal(400);
    expect(await send({ ...headers, 'webhook-timestamp': old }), 'time').to.equal(400);
    expect(await send({ ...headers, 'webhook-timestamp': 'now' }), 'no number').to.equal(400);
    expect(await send({ ...headers, 'webhook-signature': '' }), 'signature').to.equal(400);
  });

  it('accepts a delivery of Valetkey, and shows its event', async () => {
    const lines = createInterface({ input: receiver.stdout as NodeJS.ReadableStream });
    const shown = once(lines, 'line');
    expect(await send(delivery.headers)).to.equal(204);
    expect(String(await shown)).to.match(/^environment\.updated /);
  });
});
