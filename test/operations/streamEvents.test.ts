import { expect } from 'chai';
import { createEventFeed } from '../../core/webhooks/event-feed.ts';
import { unknownId } from '../support/accounts.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { CLIENT_ID } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';
import { type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const PATH = '/api/v1/events:stream';

interface Streamed {
  id: string;
  event: string;
  data: string;
}

/** Reads a stream as a browser does. */
async function* readEvents(response: Response): AsyncGenerator<Streamed> {
  let text = '';
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(bytes).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() as string;
    for (const block of blocks) {
      const lines = block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]);
      const event = Object.fromEntries(lines) as unknown as Streamed;
      if (event.id) yield event;
    }
  }
}

describe('streamEvents', () => {
  let world: WebhookWorld;
  const opened: AbortController[] = [];

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) each.abort();
    await world.stop();
  });

  const keep = () => world.server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });

  async function open(headers: Record<string, string> = {}, query = '') {
    const end = new AbortController();
    opened.push(end);
    const token = world.server.token('events:read');
    const response = await fetch(`${world.server.origin}${PATH}${query}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: end.signal,
    });
    return { response, events: readEvents(response), end };
  }

  async function take(events: AsyncGenerator<Streamed>, count: number): Promise<Streamed[]> {
    const taken: Streamed[] = [];
    while (taken.length < count) taken.push((await events.next()).value as Streamed);
    return taken;
  }

  describe('200', () => {
    it('sends events as they are stored', async () => {
      await keep();
      const { response, events } = await open();
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('text/event-stream');
      expect(response.headers.get('cache-control')).to.equal('no-store');
      await world.cause();
      const [first] = await take(events, 1);
      const [stored] = await world.events();
      expect(first).to.include({ id: stored?.id, event: 'environment.updated' });
      expect(JSON.parse(first?.data ?? '')).to.deep.equal(stored);
      await world.cause();
      const [second] = await take(events, 1);
      expect(second?.id).to.equal((await world.events())[0]?.id);
    });

    it('resumes after the last event without a gap, also over more than one batch', async () => {
      await keep();
      for (let count = 0; count < 50; count++) await world.cause();
      const all = (await world.events('?page_size=100')).map(({ id }) => id).reverse();
      const { events, end } = await open({ 'last-event-id': all[0] as string });
      const first = await take(events, 30);
      end.abort();
      await world.cause();
      const rest = await open({ 'last-event-id': first.at(-1)?.id as string });
      const second = await take(rest.events, 21);
      const [newest] = await world.events();
      expect([...first, ...second].map(({ id }) => id)).to.deep.equal([...all.slice(1), newest?.id]);
    });

    it('filters by name', async () => {
      await keep();
      const { events } = await open({}, '?type=api_client.created');
      await world.cause();
      await world.server.call('POST', '/api/v1/api_clients', { body: { name: 'Agent', scopes: ['tools:read'] } });
      const [event] = await take(events, 1);
      expect(event?.event).to.equal('api_client.created');
    });

    it('sends no event of another environment (C1)', async () => {
      await keep();
      const { events } = await open();
      const other = await addSecondEnvironment(world.server);
      await other.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
      await world.cause();
      const [event] = await take(events, 1);
      expect(JSON.parse(event?.data ?? '').environment_id).to.equal((await world.events())[0]?.environment_id);
    });

    it('ends when its client is disabled', async () => {
      await keep();
      const { events } = await open();
      const { store, now, eventFeed } = world.server.parts;
      const { id } = await firstEnvironment(world.server);
      await store.write((tx) => tx.apiClients.disable(id, CLIENT_ID, now()));
      eventFeed.notifyStored(id);
      expect((await events.next()).done).to.equal(true);
    });

    it('ends after ten minutes, and when the server stops', async () => {
      await keep();
      const { events } = await open();
      world.clock.advance(10 * 60_000);
      await world.cause();
      expect((await events.next()).done).to.equal(true);
      const { response } = await open();
      const body = response.text();
      await world.server.stop();
      expect(await body).to.match(/^retry: \d+\n\n/);
    });

    it('has no body for HEAD', async () => {
      await keep();
      const answer = await world.server.call('HEAD', PATH);
      expect(answer).to.include({ status: 200, text: '' });
    });
  });

  describe('400', () => {
    it('names an unknown event', async () => {
      await keep();
      const answer = await world.server.call('GET', `${PATH}?type=tool.exploded`);
      expect(answer.body.errors[0].field).to.equal('type');
    });
  });

  describe('403', () => {
    it('requires the scope events:read', async () => {
      const token = world.server.token('events:write', 'admin');
      expect((await world.server.call('GET', PATH, { token })).body.code).to.equal('INSUFFICIENT_SCOPE');
    });
  });

  describe('404', () => {
    it('rejects an event that was never stored, or of another environment (C1)', async () => {
      await keep();
      await world.cause();
      const [own] = await world.events();
      const other = await addSecondEnvironment(world.server);
      await other.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
      const foreign = { 'last-event-id': own?.id as string };
      expect((await other.call('GET', PATH, { headers: foreign })).body.code).to.equal('NOT_FOUND');
      const unknown = { 'last-event-id': unknownId('evt') };
      expect((await world.server.call('GET', PATH, { headers: unknown })).body.code).to.equal('NOT_FOUND');
    });
  });

  describe('409', () => {
    it('EVENTS_NOT_KEPT when no event would be stored', async () => {
      expect((await world.server.call('GET', PATH)).body).to.include({ status: 409, code: 'EVENTS_NOT_KEPT' });
      await world.create();
      expect((await open()).response.status).to.equal(200);
    });
  });

  describe('429', () => {
    it('opens at most 100 streams in one environment', async () => {
      await keep();
      for (let count = 0; count < 100; count++) await take((await open()).events, 0);
      const refused = await world.server.call('GET', PATH);
      expect(refused.body).to.include({ status: 429, code: 'RATE_LIMITED' });
    });

    it('ends a stream that was accepted at the same time as the last one', async () => {
      const feed = createEventFeed({ store: world.server.parts.store, now: Date.now });
      const { signal } = new AbortController();
      const subscription = { environmentId: (await firstEnvironment(world.server)).id, clientId: CLIENT_ID, after: 0 };
      feed.requireFreeStream(subscription.environmentId);
      const streams = Array.from({ length: 101 }, () => feed.follow(subscription, signal)[Symbol.asyncIterator]());
      const first = await Promise.all(streams.map((stream) => stream.next()));
      expect(first.filter(({ done }) => done)).to.have.length(1);
      feed.close();
    });
  });
});
