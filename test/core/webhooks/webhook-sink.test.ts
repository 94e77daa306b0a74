import { expect } from 'chai';
import type { EmittedEvent } from '../../../core/events/sink.ts';
import type { EventBody, EventType } from '../../../core/events/types.ts';
import { createWebhookSink } from '../../../core/webhooks/webhook-sink.ts';
import type { EnvironmentId, Transaction } from '../../../db/store.ts';
import { NOW, openTestStore, webhookEndpoint } from '../../db/support.ts';

const RELOAD_MS = 5_000;

describe('the webhook sink', () => {
  let test: Awaited<ReturnType<typeof openTestStore>>;
  let env: EnvironmentId;
  let queued: string[];
  let statements: string[];
  let version: number;
  let sink: ReturnType<typeof createWebhookSink>;

  beforeEach(async () => {
    test = await openTestStore();
    env = test.env;
    queued = [];
    statements = [];
    version = 0;
    sink = createWebhookSink({
      store: { settingsVersion: () => version },
      deliveries: { add: async (_tx, { id }) => void queued.push(id) },
      notifyStored: () => {},
    });
  });
  afterEach(() => test.end());

  /** Records every call of a repository's function. */
  function noted(tx: Transaction): Transaction {
    return new Proxy(tx, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'object') return value;
        return new Proxy(value as object, {
          get(repository, method) {
            statements.push(`${String(name)}.${String(method)}`);
            return Reflect.get(repository, method);
          },
        });
      },
    });
  }

  function emit(type: EventType, at = NOW, environmentId = env): Promise<void> {
    const id = test.newId('evt');
    const cause = { environmentId, actor: 'system', requestId: '' };
    const body = async () => ({ id, type }) as unknown as EventBody;
    const event: EmittedEvent = { type, subject: 'ca_1', cause, at, details: {}, body };
    return test.store.write(async (tx) => {
      // Reset here, because the test store runs each unit of work twice.
      statements = [];
      queued = [];
      await sink.handle(noted(tx), event);
    });
  }

  it('executes no statement for an event, once it knows that the environment has no endpoints', async () => {
    await emit('connected_account.created');
    expect(statements).to.deep.equal(['environments.get', 'webhookEndpoints.enabled']);
    statements.length = 0;
    for (const type of [
      'connected_account.created',
      'connected_account.credentials_read',
      'execution.succeeded',
    ] as const) {
      await emit(type);
    }
    expect(statements).to.deep.equal([]);
    // The control: statements are counted for an event that an endpoint receives.
    await test.store.write((tx) => tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1')));
    await emit('webhook_endpoint.created');
    expect(queued).to.deep.equal(['whk_1']);
    expect(statements).to.include('events.append');
  });

  it('reads the endpoints again after some seconds, because another process may have changed one', async () => {
    await emit('connected_account.created');
    await test.store.write((tx) => tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1')));
    await emit('connected_account.created', NOW + RELOAD_MS - 1);
    expect(queued).to.deep.equal([]);
    await emit('connected_account.created', NOW + RELOAD_MS);
    expect(queued).to.deep.equal(['whk_1']);
  });

  it('reads the endpoints again when the store was notified of a change by another process', async () => {
    await emit('connected_account.created');
    await test.store.write((tx) => tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1')));
    await emit('connected_account.created');
    expect(queued, 'the control').to.deep.equal([]);
    version++;
    await emit('connected_account.created');
    expect(queued).to.deep.equal(['whk_1']);
  });

  it('does not cache what a unit has read that was rolled back', async () => {
    const boom = new Error('undone');
    const failed = test.store.write(async (tx) => {
      await tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1'));
      const cause = { environmentId: env, actor: 'system', requestId: '' };
      const body = async () => ({ id: 'evt_1' }) as unknown as EventBody;
      const event = { type: 'tool.created' as const, subject: 'ca_1', cause, at: NOW, details: {}, body };
      await sink.handle(tx, event);
      throw boom;
    });
    expect(await failed.catch((error: unknown) => error)).to.equal(boom);
    queued.length = 0;
    await emit('tool.created');
    expect(queued).to.deep.equal([]);
    expect((await test.store.read.events.list(env, {}, { size: 10 })).rows).to.deep.equal([]);
  });

  it('numbers the events of an environment in the order of their commits', async () => {
    await test.store.write((tx) => tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1')));
    await Promise.all(Array.from({ length: 20 }, () => emit('tool.created')));
    const rows = await test.store.read.events.following(env, 0, 100);
    expect(rows.map(({ seq }) => seq - (rows[0]?.seq ?? 0))).to.deep.equal(rows.map((_row, index) => index));
    expect(await test.store.read.events.last(env)).to.equal(rows.at(-1)?.seq);
    expect(await test.store.read.events.following(env, rows[16]?.seq ?? 0, 100)).to.deep.equal(rows.slice(17));
  });

  it('delivers events of executions only to endpoints that list them', async () => {
    await test.store.write(async (tx) => {
      await tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1'));
      await tx.webhookEndpoints.insert(env, { ...webhookEndpoint('whk_2'), eventTypes: ['execution.failed'] });
    });
    await emit('execution.succeeded');
    expect(queued).to.deep.equal([]);
    await emit('execution.failed');
    expect(queued).to.deep.equal(['whk_2']);
    await emit('tool.created');
    expect(queued).to.deep.equal(['whk_1']);
  });
});
