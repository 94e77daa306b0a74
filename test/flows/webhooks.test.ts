import { createPublicKey, verify } from 'node:crypto';
import { expect } from 'chai';
import { StorageError } from '../../db/store.ts';
import type { ReceivedRequest } from '../support/upstream.ts';
import { verifyDelivery, type WebhookWorld, webhookWorld } from '../support/webhooks.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UPDATED = { event_types: ['environment.updated'] };

describe('webhooks', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld();
  });
  afterEach(() => world.stop());

  const one = (requests: ReceivedRequest[]): ReceivedRequest => {
    expect(requests).to.have.length(1);
    return requests[0] as ReceivedRequest;
  };

  describe('signatures', () => {
    it('verify with the secret of the endpoint, and with no other', async () => {
      const { secret } = await world.create(UPDATED);
      const { secret: other } = await world.create({ event_types: ['tool.created'] });
      await world.cause();
      await world.deliver();
      const request = one(world.received());
      expect(() => verifyDelivery(other, request)).to.throw('No matching signature');
      expect(() => verifyDelivery(secret, { ...request, body: `${request.body} ` })).to.throw('No matching signature');
      const event = verifyDelivery(secret, request);
      expect(event).to.include({ type: 'environment.updated', id: request.headers['webhook-id'] });
      expect(event.data).to.deep.include({ fields: ['link_lifetime_seconds'] });
      expect(request).to.include({ method: 'POST', target: '/hook' });
      expect(request.headers['content-type']).to.equal('application/json');
    });

    it('of an old delivery are rejected by the receiver', async () => {
      const { secret } = await world.create(UPDATED);
      await world.cause();
      await world.deliver();
      const request = one(world.received());
      const timestamp = String(Number(request.headers['webhook-timestamp']) - 3600);
      const headers = { ...request.headers, 'webhook-timestamp': timestamp };
      expect(() => verifyDelivery(secret, { ...request, headers })).to.throw('Message timestamp too old');
      verifyDelivery(secret, request);
    });

    it('verify with both secrets during the overlap, and with the new one after it', async () => {
      const { endpoint, secret } = await world.create(UPDATED);
      const path = `/api/v1/webhook_endpoints/${endpoint.id}:rotate_secret`;
      const rotated = await world.server.call('POST', path, { body: { overlap_seconds: 60 } });
      const { secret: next } = rotated.body;
      expect(next).not.to.equal(secret);
      await world.cause();
      await world.deliver();
      const both = one(world.received());
      verifyDelivery(secret, both);
      verifyDelivery(next, both);
      world.clock.advance(MINUTE);
      await world.cause();
      await world.deliver();
      const after = one(world.received());
      expect(after.headers['webhook-signature']?.split(' ')).to.have.length(1);
      expect(() => verifyDelivery(secret, after)).to.throw('No matching signature');
    });

    it('verify with the public key of an endpoint with ED25519', async () => {
      const { endpoint, secret } = await world.create({ ...UPDATED, algorithm: 'ED25519' });
      expect(secret).to.equal('');
      const text = endpoint.secrets[0]?.public_key ?? '';
      const raw = Buffer.from(text.replace('whpk_', ''), 'base64');
      expect(raw).to.have.length(32);
      const key = createPublicKey({
        key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
        format: 'jwk',
      });
      await world.cause();
      await world.deliver();
      const { headers, body } = one(world.received());
      const [version, signature = ''] = (headers['webhook-signature'] ?? '').split(',');
      expect(version).to.equal('v1a');
      const content = (id: string | undefined) => Buffer.from(`${id}.${headers['webhook-timestamp']}.${body}`);
      const isValid = (id: string | undefined) => verify(null, content(id), key, Buffer.from(signature, 'base64'));
      expect(isValid('evt_other')).to.equal(false);
      expect(isValid(headers['webhook-id'])).to.equal(true);
    });
  });

  describe('events', () => {
    it('are not stored while no endpoint takes them', async () => {
      await world.cause();
      expect(await world.events()).to.deep.equal([]);
      await world.create({ event_types: ['tool.created'] });
      await world.cause();
      expect(await world.events()).to.deep.equal([]);
    });

    it('are stored without an endpoint when the environment keeps them', async () => {
      const keep = (keep_events: boolean | null) =>
        world.server.call('PUT', '/api/v1/environment', { body: { keep_events } });
      await keep(true);
      await world.cause();
      const kept = await world.events();
      expect(kept.map(({ type }) => type)).to.deep.equal(['environment.updated', 'environment.updated']);
      await keep(null);
      await world.cause();
      expect(await world.events()).to.deep.equal(kept);
    });

    it('are sent to each endpoint that takes them, once', async () => {
      await world.create(UPDATED);
      await world.create({ event_types: ['tool.created', 'environment.updated'] });
      await world.create({ event_types: ['tool.created'] });
      world.received();
      await world.cause();
      await world.deliver();
      const ids = world.received().map(({ headers }) => headers['webhook-id']);
      expect(ids).to.have.length(2);
      expect(new Set(ids).size).to.equal(1);
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
    });

    it('are recorded as delivered in the transaction that ends their job, and are not sent again if it fails at first', async () => {
      await world.create(UPDATED);
      await world.cause();
      const { store } = world.server.parts;
      const units: string[][] = [];
      let isFailing = true;
      const write = store.write.bind(store);
      store.write = (unit) =>
        write(async (tx) => {
          const calls: string[] = [];
          const { webhookDeliveries, jobQueue } = tx;
          const result = await unit({
            ...tx,
            webhookDeliveries: {
              ...webhookDeliveries,
              record: (...given) => webhookDeliveries.record(...given).finally(() => calls.push('record')),
            },
            jobQueue: {
              ...jobQueue,
              done: (...given) => jobQueue.done(...given).finally(() => calls.push('done')),
            },
          });
          if (calls.length === 0) return result;
          units.push(calls);
          if (isFailing) throw new StorageError('IOERR', 'the disk fails');
          return result;
        });
      try {
        await world.deliver();
        expect(world.received()).to.have.length(1);
        expect((await world.deliveries())[0]).to.include({ state: 'PENDING', attempts: 0 });
        isFailing = false;
        await world.deliver();
        expect((await world.deliveries())[0]).to.include({ state: 'DELIVERED', attempts: 1 });
        await world.deliver();
        expect(world.received()).to.have.length(0);
        expect(new Set(units.map(String))).to.deep.equal(new Set(['record,done']));
      } finally {
        store.write = write;
      }
    });

    it('of an operation that fails are not delivered', async () => {
      await world.create(UPDATED);
      const refused = await world.server.call('PUT', '/api/v1/environment', {
        body: { user_verify_urls: ['ftp://x'] },
      });
      expect(refused.status).to.equal(400);
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
    });
  });

  describe('failed deliveries', () => {
    const answer = (status: number, headers: Record<string, string> = {}) => {
      world.receiver.handler = (_request, res) => res.writeHead(status, headers).end('no');
    };

    it('are repeated with increasing pauses, and fail after the tenth attempt', async () => {
      answer(500);
      await world.create(UPDATED);
      await world.cause();
      const rests: number[] = [];
      for (let attempt = 1; attempt <= 10; attempt++) {
        await world.deliver();
        const [delivery] = await world.deliveries();
        expect(delivery).to.include({ attempts: attempt });
        expect(delivery?.last_attempt).to.deep.include({ error: 'The endpoint returned 500.' });
        expect(delivery?.last_attempt?.response).to.deep.equal({ status: 500, body: 'no', is_truncated: false });
        if (attempt === 10) {
          expect(delivery).to.include({ state: 'FAILED', next_attempt_at: null });
          break;
        }
        expect(delivery).to.include({ state: 'PENDING' });
        const rest = Date.parse(delivery?.next_attempt_at ?? '') - world.clock.now();
        rests.push(rest);
        world.clock.advance(rest - 1);
        await world.deliver();
        expect((await world.deliveries())[0]).to.include({ attempts: attempt });
        world.clock.advance(1);
      }
      const schedule = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];
      rests.forEach((rest, index) => {
        expect(rest).to.be.within((schedule[index] as number) * 0.8, schedule[index] as number);
      });
      expect(world.received()).to.have.length(10);
    });

    it('have the same id and body, and a new timestamp', async () => {
      answer(503);
      const { secret } = await world.create(UPDATED);
      await world.cause();
      await world.deliver();
      world.clock.advance(5 * SECOND);
      answer(200);
      await world.deliver();
      const [first, second] = world.received() as [ReceivedRequest, ReceivedRequest];
      expect(second.body).to.equal(first.body);
      expect(second.headers['webhook-id']).to.equal(first.headers['webhook-id']);
      expect(Number(second.headers['webhook-timestamp'])).to.equal(Number(first.headers['webhook-timestamp']) + 5);
      verifyDelivery(secret, second);
      expect(await world.deliveries()).to.have.deep.nested.property('[0].state', 'DELIVERED');
    });

    it('wait as long as Retry-After asks for, but at most a day', async () => {
      answer(429, { 'retry-after': '600' });
      await world.create(UPDATED);
      await world.cause();
      await world.deliver();
      const next = async () => Date.parse((await world.deliveries())[0]?.next_attempt_at ?? '') - world.clock.now();
      expect(await next()).to.equal(600 * SECOND);
      answer(503, { 'retry-after': '999999' });
      world.clock.advance(600 * SECOND);
      await world.deliver();
      expect(await next()).to.equal(DAY);
    });

    it('mark the endpoint as failing until a delivery succeeds', async () => {
      answer(500);
      const { endpoint } = await world.create(UPDATED);
      await world.cause();
      await world.deliver();
      const since = new Date(world.clock.now()).toISOString();
      expect(await world.get(endpoint.id)).to.include({ failing_since: since, enabled: true });
      answer(204);
      world.clock.advance(5 * SECOND);
      await world.deliver();
      expect(await world.get(endpoint.id)).to.include({ failing_since: null });
    });

    it('disable an endpoint that returns 410, with an event for the others', async () => {
      const { endpoint } = await world.create(UPDATED);
      const { endpoint: other } = await world.create({ event_types: ['webhook_endpoint.disabled'] });
      answer(410);
      await world.cause();
      await world.cause();
      world.receiver.handler = ({ body }, res) => {
        res.writeHead(body.includes('"type":"webhook_endpoint.disabled"') ? 200 : 410).end();
      };
      await world.deliver();
      const disabled = await world.get(endpoint.id);
      expect(disabled).to.include({ enabled: false, disabled_reason: 'The endpoint returned 410.' });
      const ended = await world.deliveries(`?endpoint_id=${endpoint.id}`);
      expect(ended.map(({ state }) => state)).to.deep.equal(['FAILED', 'FAILED']);
      await world.deliver();
      const told = await world.deliveries(`?endpoint_id=${other.id}`);
      expect(told).to.have.length(1);
      expect(told[0]).to.include({ state: 'DELIVERED', event_type: 'webhook_endpoint.disabled' });
      world.received();
      await world.cause();
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
    });

    it('disable an endpoint whose attempts all failed for five days', async () => {
      answer(500);
      const { endpoint } = await world.create(UPDATED);
      await world.cause();
      await world.deliver();
      world.clock.advance(5 * DAY - 1);
      await world.cause();
      await world.deliver();
      expect(await world.get(endpoint.id)).to.include({ enabled: true });
      world.clock.advance(MINUTE);
      await world.deliver();
      expect(await world.get(endpoint.id)).to.include({
        enabled: false,
        disabled_reason: 'All attempts failed for five days.',
      });
    });
  });

  describe('an endpoint with ordered delivery', () => {
    it('receives the events of a subject one after the other, and those of other subjects meanwhile', async () => {
      const { endpoint } = await world.create({
        event_types: ['environment.updated', 'api_client.created'],
        ordered: true,
      });
      let status = 500;
      world.receiver.handler = ({ body }, res) => {
        res.writeHead(body.includes('"type":"environment.updated"') ? status : 204).end();
      };
      await world.cause();
      await world.cause();
      const client = { name: 'Agent', scopes: ['tools:read'] };
      await world.server.call('POST', '/api/v1/api_clients', { body: client });
      await world.deliver();
      const states = async () =>
        (await world.deliveries(`?endpoint_id=${endpoint.id}`)).map((each) => [each.state, each.attempts]);
      expect(await states()).to.deep.equal([
        ['DELIVERED', 1],
        ['PENDING', 0],
        ['PENDING', 1],
      ]);
      expect((await world.deliveries())[1]).to.include({ next_attempt_at: null, last_attempt: null });
      status = 204;
      world.clock.advance(5 * SECOND);
      await world.deliver();
      expect(await states()).to.deep.equal([
        ['DELIVERED', 1],
        ['DELIVERED', 1],
        ['DELIVERED', 2],
      ]);
      const types = world.received().map(({ body }) => JSON.parse(body).id);
      const events = await world.events('?type=environment.updated');
      expect(types.filter((id) => events.some((event) => event.id === id))).to.deep.equal([
        events[1]?.id,
        events[1]?.id,
        events[0]?.id,
      ]);
    });
  });

  describe('deliveries on request', () => {
    it('repeat one delivery, whether it succeeded, failed or waits', async () => {
      await world.create(UPDATED);
      await world.cause();
      await world.deliver();
      const [delivery] = await world.deliveries();
      expect(delivery).to.include({ state: 'DELIVERED' });
      world.receiver.handler = (_request, res) => res.writeHead(500).end();
      const again = () => world.server.call('POST', `/api/v1/webhook_deliveries/${delivery?.id}:redeliver`);
      expect((await again()).body.webhook_delivery).to.include({ state: 'PENDING', attempts: 0 });
      await world.deliver();
      expect((await world.deliveries())[0]).to.include({ state: 'PENDING', attempts: 1 });
      world.receiver.handler = (_request, res) => res.writeHead(204).end();
      await again();
      await world.deliver();
      expect((await world.deliveries())[0]).to.include({ state: 'DELIVERED', attempts: 1 });
      expect(world.received()).to.have.length(3);
      // When the job of the replaced attempt becomes due, it does nothing.
      world.clock.advance(MINUTE);
      await world.deliver();
      expect(world.received()).to.deep.equal([]);
    });

    it('repeat all that failed since a time', async () => {
      const { endpoint } = await world.create(UPDATED);
      world.receiver.handler = (_request, res) => res.writeHead(410).end();
      await world.cause();
      await world.deliver();
      world.clock.advance(HOUR);
      const since = new Date(world.clock.now()).toISOString();
      const path = `/api/v1/webhook_endpoints/${endpoint.id}`;
      await world.server.call('POST', `${path}:enable`);
      await world.cause();
      await world.cause();
      await world.deliver();
      world.receiver.handler = (_request, res) => res.writeHead(204).end();
      world.received();
      await world.server.call('POST', `${path}:enable`);
      world.clock.advance(SECOND);
      const ordered = await world.server.call('POST', `${path}:redeliver`, { body: { since } });
      expect(ordered.status, ordered.text).to.equal(200);
      await world.deliver();
      const states = (await world.deliveries()).map(({ state }) => state);
      expect(states).to.deep.equal(['DELIVERED', 'DELIVERED', 'FAILED']);
      expect(world.received()).to.have.length(2);
      world.clock.advance(SECOND);
      await world.server.call('POST', `${path}:redeliver`, { body: { since, include_delivered: true } });
      await world.deliver();
      expect(world.received()).to.have.length(2);
    });
  });
});

describe('webhooks of a running server', () => {
  let world: WebhookWorld;

  beforeEach(async () => {
    world = await webhookWorld(undefined, { isBackgroundRunning: true });
  });
  afterEach(() => world.stop());

  it('are delivered soon after the response, without a request for it', async () => {
    const arrived = new Promise<void>((resolve) => {
      world.receiver.handler = (_request, res) => {
        res.writeHead(204).end();
        resolve();
      };
    });
    await world.create(UPDATED);
    await world.cause();
    await arrived;
  });

  it('that hang do not delay those of another endpoint', async () => {
    const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    world.receiver.handler = async ({ target }, res) => {
      if (target === '/hangs') await hangs;
      else arrived.resolve();
      res.writeHead(204).end();
    };
    await world.create({ ...UPDATED, url: world.url.replace('/hook', '/hangs') });
    for (let count = 0; count < 20; count++) await world.cause();
    await world.create(UPDATED);
    await world.cause();
    await arrived.promise;
    const hanging = world.receiver.requests.filter(({ target }) => target === '/hangs');
    expect(hanging.length).to.be.within(1, 4);
    release();
    await world.deliver();
  });
});
