import { expect } from 'chai';
import { ApiStream } from '../../cli/api-stream.ts';
import { UsageError } from '../../cli/usage-error.ts';
import { forwardEvents, webhooksCommand } from '../../cli/webhooks.ts';
import { Secret } from '../../core/secret.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { verifyDelivery, type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const KEY = Buffer.alloc(32, 3);

describe('valetkey webhooks listen', () => {
  let world: WebhookWorld;
  let stop: AbortController;

  beforeEach(async () => {
    stop = new AbortController();
    world = await webhookWorld();
  });
  afterEach(async () => {
    stop.abort();
    await world.stop();
  });

  const streamOf = (secret = CLIENT_SECRET) =>
    new ApiStream(world.server.origin, { id: CLIENT_ID, secret: new Secret(secret) });
  const keep = () => world.server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
  const failureOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('forwards events, signed with the secret that it prints', async () => {
    await keep();
    const lines: string[] = [];
    const two = Promise.withResolvers<void>();
    const listening = forwardEvents(
      streamOf(),
      world.url,
      KEY,
      (line) => {
        lines.push(line);
        if (lines.length === 3) two.resolve();
      },
      stop.signal,
    );
    // The stream begins with the next event, so events are caused until the first one has arrived.
    while (lines.length < 3) {
      await world.cause();
      await Promise.race([two.promise, new Promise((resolve) => setImmediate(resolve))]);
    }
    stop.abort();
    await listening;
    const [secret] = /whsec_\S+/.exec(lines[0] ?? '') ?? [];
    const [first] = world.received();
    if (!first) throw new Error('nothing was forwarded');
    const event = verifyDelivery(secret ?? '', first);
    expect(event.type).to.equal('environment.updated');
    expect(lines[1]).to.equal(`environment.updated  ${event.id}  204`);
  });

  it('says why the server refuses the stream', async () => {
    const listen = (stream: ApiStream) => failureOf(forwardEvents(stream, world.url, KEY, () => {}, stop.signal));
    expect(await listen(streamOf()))
      .to.be.instanceOf(UsageError)
      .with.property('message')
      .that.includes('Set keep_events');
    expect(await listen(streamOf('vks_another-secret-of-some-client')))
      .to.be.instanceOf(UsageError)
      .with.property('message')
      .that.includes('the server returned 401');
  });

  for (const args of [
    [],
    ['forward'],
    ['listen'],
    ['listen', '--forward-to', 'https://app.example/hook'],
    ['listen', '--forward-to', 'file:///etc/passwd'],
    ['listen', '--forward-to', 'http://localhost:1', '--colour'],
  ]) {
    it(`rejects ${args.join(' ') || 'no action'}`, async () => {
      expect(await failureOf(webhooksCommand(args))).to.be.instanceOf(UsageError);
    });
  }
});
