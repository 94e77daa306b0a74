import { expect } from 'chai';
import fc from 'fast-check';
import type { AccountRow } from '../../../db/store.ts';
import { createWorld, HOUR, type Process, RotatingProvider, START, type World } from './refresh-support.ts';

/** Milliseconds; longer than any lease of a refresh. */
const LEASE = 31_000;

/** A provider whose requests and responses arrive in the order that the scheduler chooses. */
function scheduled(s: fc.Scheduler): RotatingProvider {
  const provider = new RotatingProvider();
  provider.before = () => s.schedule(Promise.resolve(), 'arrives');
  provider.after = () => s.schedule(Promise.resolve(), 'answers');
  return provider;
}

describe('concurrent refreshes in every order', () => {
  let world: World;
  let bases: Process[];
  let runs = 0;

  before(async () => {
    world = await createWorld();
    const unused = () => Promise.reject(new Error('not used'));
    bases = [await world.start(unused), await world.start(unused)];
  });
  after(() => world.end());

  /** Creates an account, and two processes with a provider that knows it. */
  async function begin(provider: RotatingProvider, limits = {}) {
    world.clock.at = START + HOUR;
    const id = await world.addAccount(`account ${++runs}`);
    const starts = bases.map(({ store }) => world.start(provider.fetch, { store, limits }));
    return { id, processes: await Promise.all(starts), row: await world.account(id) };
  }

  it('send one request, and give its token to every caller (R1)', async () => {
    const who = fc.array(fc.record({ process: fc.nat(1), refused: fc.boolean() }), { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), who, async (s, callers) => {
        const provider = scheduled(s);
        // No lease expires and no caller gives up, because only the order of events is tested.
        const { processes, row } = await begin(provider, { leaseMs: 1000 * HOUR, patienceMs: 1000 * HOUR });
        const calls = callers.map(async ({ process, refused }, n) => {
          await s.schedule(Promise.resolve(), `caller ${n}`);
          const { refresher } = processes[process] as Process;
          return refused ? refresher.refreshNow(row, world.cause) : refresher.freshen(row, world.cause);
        });
        const all = await s.waitFor(Promise.all(calls));
        for (const account of all)
          expect(await world.tokens(account as AccountRow)).to.include({ access_token: 'at-1' });
        expect(provider).to.include({ requests: 1, alive: true });
      }),
      { numRuns: 60 },
    );
  });

  it('leave an account that works or has a reason why it does not, regardless of other changes (R2, R3, R4)', async () => {
    const event = fc.constantFrom(
      'freshen',
      'refuse',
      'pass a lease',
      'authorize',
      'configure',
      'delete',
      'lose an answer',
    );
    const story = fc.array(fc.tuple(event, fc.nat(1)), { minLength: 2, maxLength: 8 });
    const ends = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), story, async (s, events) => {
        const provider = scheduled(s);
        const { id, processes, row } = await begin(provider);
        let authorized = false;
        const answers = provider.after;
        const happen = async (what: (typeof events)[number][0], process: number): Promise<unknown> => {
          const { store, refresher } = processes[process] as Process;
          const current = await store.read.accounts.get(world.env, id);
          if (!current) return undefined;
          switch (what) {
            case 'freshen':
              return refresher.freshen(current, world.cause);
            case 'refuse':
              return refresher.refreshNow(row, world.cause);
            case 'pass a lease':
              world.clock.at += LEASE;
              return undefined;
            case 'authorize':
              authorized = true;
              return world.replaceTokens({ access_token: 'new' }, id);
            case 'configure':
              return store.write(async (tx) => {
                const now = await tx.accounts.get(world.env, id);
                const change = { apiConfig: { changed: true }, updatedAt: world.clock.at };
                if (now) await tx.accounts.update(world.env, id, now.version, change);
              });
            case 'delete':
              return store.write((tx) => tx.accounts.remove(world.env, id, world.clock.at));
            case 'lose an answer':
              provider.after = async () => {
                provider.after = answers;
                throw Object.assign(new Error('The connection was lost.'), { kind: 'unreachable', sent: true });
              };
              return undefined;
          }
        };
        const told = events.map(async ([what, process], n) => {
          await s.schedule(Promise.resolve(), `${n}: ${what}`);
          await happen(what, process).catch((error: { code?: string }) => {
            if (error.code !== 'NOT_FOUND' && !/gone|undefined|null/.test(String(error))) throw error;
          });
        });
        await s.waitFor(Promise.all(told));

        // Checks the account much later, when the network works again, with a process that started after these events.
        provider.after = answers;
        world.clock.at += HOUR;
        const deleted = !(await bases[0]?.store.read.accounts.get(world.env, id));
        if (deleted) {
          ends.set('deleted', (ends.get('deleted') ?? 0) + 1);
          return;
        }
        const { refresher } = await world.start(provider.fetch, { store: bases[0]?.store as never });
        const last = await s.waitFor(refresher.freshen(await world.account(id), world.cause));
        const tokens = await world.tokens(last);
        ends.set(last.status, (ends.get(last.status) ?? 0) + 1);
        if (authorized) {
          expect(last.status).to.equal('ACTIVE');
          expect(tokens).to.deep.equal({ access_token: 'new' });
        } else if (last.status === 'EXPIRED') {
          expect(last.statusReason).to.match(/Authorize the account again/);
        } else {
          expect(provider.alive).to.equal(true);
          expect(tokens).to.include({ access_token: provider.accessToken, refresh_token: provider.refreshToken });
        }
      }),
      { numRuns: 150 },
    );
    expect([...ends.keys()].sort(), 'every end was reached').to.deep.equal(['ACTIVE', 'EXPIRED', 'deleted']);
  });
});
