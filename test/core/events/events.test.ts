import { expect } from 'chai';
import { createAccountSink } from '../../../core/events/account-sink.ts';
import { createAuditSink } from '../../../core/events/audit-sink.ts';
import { createEvents } from '../../../core/events/events.ts';
import type { Representations } from '../../../core/events/renderer.ts';
import type { EmittedEvent, EventSink } from '../../../core/events/sink.ts';
import type { EventBody } from '../../../core/events/types.ts';
import type { AccountRow, Transaction } from '../../../db/store.ts';
import { environmentId } from '../../../db/store.ts';

const ENVIRONMENT = environmentId('env_01k6p3v0c2d4e6f8g0h1j3k5m7');
const CAUSE = { environmentId: ENVIRONMENT, actor: 'cli_1', requestId: 'req_1' };
const SHOWN = { id: 'ca_1' } as Awaited<ReturnType<Representations['account']>>;

/** A unit of work that records what is appended to the audit log, and holds its effects until it is committed. */
function unitOfWork() {
  const appended: object[] = [];
  const effects: (() => void)[] = [];
  const tx = {
    audit: { append: async (_environment: string, row: object) => void appended.push(row) },
    afterCommit: (effect: () => void) => void effects.push(effect),
  } as unknown as Transaction;
  return {
    tx,
    appended,
    commit() {
      for (const effect of effects) effect();
    },
  };
}

function eventsWith(...sinks: EventSink[]) {
  let ids = 0;
  const renderer = () => ({ account: async () => SHOWN }) as unknown as Representations;
  return createEvents({ now: () => 0, newId: () => `evt_${++ids}`, renderer, sinks });
}

/** A sink that collects the events that it accepts. */
function collector(accepts: EventSink['accepts'] = () => true) {
  const handled: EmittedEvent[] = [];
  return { handled, accepts, handle: (_tx: Transaction, event: EmittedEvent) => void handled.push(event) };
}

describe('emitting an event', () => {
  let rendered: number;
  const expired = () => ({
    type: 'connected_account.expired' as const,
    subject: 'ca_1',
    details: { reason: 'It ended.' },
    auditOnly: { generation: 2 },
    data: async (show: Representations) => {
      rendered++;
      return { connected_account: await show.account({} as AccountRow) };
    },
  });

  beforeEach(() => {
    rendered = 0;
  });

  it('renders nothing unless a sink asks for it', async () => {
    const { tx } = unitOfWork();
    const [accepting, other] = [collector(), collector(() => false)];
    await eventsWith(accepting, other).emit(tx, CAUSE, expired());
    expect([accepting.handled.length, other.handled.length, rendered]).to.deep.equal([1, 0, 0]);
    await accepting.handled[0]?.body();
    expect(rendered).to.equal(1);
  });

  it('renders once for all sinks, with one id', async () => {
    const { tx } = unitOfWork();
    const bodies: EventBody[] = [];
    const asking: EventSink = {
      accepts: () => true,
      async handle(_tx, event) {
        bodies.push(await event.body());
      },
    };
    await eventsWith(asking, asking).emit(tx, CAUSE, expired());
    expect(rendered).to.equal(1);
    expect(bodies[0]).to.equal(bodies[1]);
    expect(bodies[0]).to.deep.equal({
      id: 'evt_1',
      type: 'connected_account.expired',
      created_at: '1970-01-01T00:00:00.000Z',
      environment_id: ENVIRONMENT,
      data: { connected_account: SHOWN, reason: 'It ended.' },
    });
  });

  it('asks a sink once for each type whether it takes it', async () => {
    const { tx } = unitOfWork();
    let asked = 0;
    const events = eventsWith(collector(() => ++asked > 0));
    for (let times = 0; times < 3; times++) await events.emit(tx, CAUSE, expired());
    expect(asked).to.equal(1);
  });

  it('fails when a sink fails, and does not ask the sinks after it', async () => {
    const { tx } = unitOfWork();
    const failing: EventSink = { accepts: () => true, handle: () => Promise.reject(new Error('full')) };
    const last = collector();
    const emitted = eventsWith(failing, last).emit(tx, CAUSE, expired());
    const error = await emitted.then(
      () => undefined,
      (reason: Error) => reason.message,
    );
    expect([error, last.handled.length]).to.deep.equal(['full', 0]);
  });

  it('writes details and audit-only data to the audit log, without rendering', async () => {
    const { tx, appended } = unitOfWork();
    await eventsWith(createAuditSink(() => 'aud_1')).emit(tx, CAUSE, expired());
    expect(rendered).to.equal(0);
    expect(appended).to.deep.equal([
      {
        id: 'aud_1',
        at: 0,
        actor: 'cli_1',
        action: 'connected_account.expired',
        subjectId: 'ca_1',
        requestId: 'req_1',
        details: { reason: 'It ended.', generation: 2 },
      },
    ]);
  });

  it('adds no audit record and no rendering for an execution', async () => {
    const { tx, appended } = unitOfWork();
    const events = eventsWith(createAuditSink(() => 'aud_1'));
    for (const type of ['execution.succeeded', 'execution.failed'] as const) {
      await events.emit(tx, CAUSE, {
        type,
        subject: 'exec_1',
        data: () => {
          throw new Error('must not be rendered');
        },
      });
    }
    expect(appended).to.deep.equal([]);
  });

  it('reports a changed account once the unit of work is committed', async () => {
    const { tx, commit } = unitOfWork();
    const changed: string[] = [];
    const events = eventsWith(createAccountSink((id) => changed.push(id)));
    await events.emit(tx, CAUSE, expired());
    expect(changed).to.deep.equal([]);
    commit();
    expect(changed).to.deep.equal(['ca_1']);
  });

  it('does not report an account whose credentials were only read', async () => {
    const { tx, commit } = unitOfWork();
    const changed: string[] = [];
    const events = eventsWith(createAccountSink((id) => changed.push(id)));
    for (const type of ['connected_account.credentials_read', 'connected_account.created'] as const) {
      const data = async () => ({ connected_account: SHOWN });
      await events.emit(tx, CAUSE, { type, subject: type, data });
    }
    commit();
    expect(changed).to.deep.equal(['connected_account.created']);
  });
});
