import { expect } from 'chai';
import { createLookups, type LookupLimits } from '../../../core/net/lookups.ts';
import { eventually } from './local.ts';

const LIMITS: LookupLimits = { lookups: 2, queuedLookups: 2, failedLookupMs: 1_000, failedLookups: 2 };
const ADDRESS = ['93.184.216.34'];

/** Lookups of one environment; the test decides when each ends. */
function party(limits: Partial<LookupLimits> = {}) {
  const asked: string[] = [];
  const ended: string[] = [];
  const pending = new Map<string, PromiseWithResolvers<readonly string[]>>();
  let now = 0;
  const resolve = createLookups(
    (hostname, signal) => {
      asked.push(hostname);
      signal.addEventListener('abort', () => ended.push(hostname));
      const outcome = Promise.withResolvers<readonly string[]>();
      pending.set(hostname, outcome);
      return outcome.promise;
    },
    { ...LIMITS, ...limits },
    () => now,
  );
  const look = (hostname: string, signal = new AbortController().signal) =>
    resolve(hostname, signal).catch((error: Error) => error.message);
  return {
    asked,
    ended,
    look,
    pass: (ms: number) => {
      now += ms;
    },
    succeed: (hostname: string) => pending.get(hostname)?.resolve(ADDRESS),
    async fail(hostname: string) {
      const looked = look(hostname);
      await eventually(() => asked.includes(hostname));
      pending.get(hostname)?.reject(new Error('failed'));
      return looked;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('M2: DNS lookups of one party', () => {
  it('are shared by concurrent callers, and repeated for later ones', async () => {
    const { asked, look, succeed } = party();
    const looked = [look('a'), look('a'), look('a')];
    await turn();
    succeed('a');
    expect(await Promise.all(looked)).to.deep.equal([ADDRESS, ADDRESS, ADDRESS]);
    expect(asked).to.deep.equal(['a']);
    const again = look('a');
    await turn();
    succeed('a');
    expect(await again).to.deep.equal(ADDRESS);
    expect(asked).to.deep.equal(['a', 'a']);
  });

  it('end when the last caller stops, but not before', async () => {
    const { asked, ended, look, succeed } = party();
    const [first, second] = [new AbortController(), new AbortController()];
    const looked = [look('a', first.signal), look('a', second.signal)];
    await turn();
    first.abort(new Error('first'));
    expect(await looked[0]).to.equal('first');
    expect(ended).to.deep.equal([]);
    second.abort(new Error('second'));
    expect(await looked[1]).to.equal('second');
    expect(ended).to.deep.equal(['a']);
    const later = look('a');
    await turn();
    succeed('a');
    expect(await later).to.deep.equal(ADDRESS);
    expect(asked).to.deep.equal(['a', 'a']);
  });

  it('wait for a slot, and are refused when too many wait', async () => {
    const { asked, look, succeed } = party();
    const looked = ['a', 'b', 'c', 'd'].map((name) => look(name));
    await turn();
    expect(asked).to.deep.equal(['a', 'b']);
    expect(await look('e')).to.equal('Too many host names are being resolved. Try again later.');
    for (const name of ['a', 'b', 'c', 'd']) {
      await eventually(() => asked.includes(name));
      succeed(name);
    }
    expect(await Promise.all(looked)).to.deep.equal([ADDRESS, ADDRESS, ADDRESS, ADDRESS]);
  });

  it('release their slot when they are aborted', async () => {
    const { asked, look, succeed } = party();
    const stop = new AbortController();
    const hanging = ['a', 'b', 'c', 'd'].map((name) => look(name, stop.signal));
    await turn();
    stop.abort(new Error('stopped'));
    await Promise.all(hanging);
    const next = look('e');
    await eventually(() => asked.includes('e'));
    succeed('e');
    expect(await next).to.deep.equal(ADDRESS);
    expect(asked).to.deep.equal(['a', 'b', 'e']);
  });

  it('do not use the slots of another party', async () => {
    const [greedy, other] = [party(), party()];
    void ['a', 'b', 'c', 'd'].map((name) => greedy.look(name));
    await turn();
    const looked = other.look('z');
    await turn();
    other.succeed('z');
    expect(await looked).to.deep.equal(ADDRESS);
  });

  it('remember a failure for a short time', async () => {
    const { asked, look, fail, pass, succeed } = party();
    expect(await fail('a')).to.equal('failed');
    pass(999);
    expect(await look('a')).to.equal('failed');
    expect(asked).to.deep.equal(['a']);
    pass(1);
    const later = look('a');
    await turn();
    succeed('a');
    expect(await later).to.deep.equal(ADDRESS);
  });

  it('remember the last failures only', async () => {
    const { asked, look, fail } = party();
    for (const name of ['a', 'b', 'c']) await fail(name);
    await fail('a');
    expect(asked).to.deep.equal(['a', 'b', 'c', 'a']);
    expect(await look('c')).to.equal('failed');
    expect(asked).to.have.length(4);
  });

  it('do not remember that a caller stopped', async () => {
    const { asked, look } = party();
    const stop = new AbortController();
    const looked = look('a', stop.signal);
    await turn();
    stop.abort(new Error('stopped'));
    expect(await looked).to.equal('stopped');
    void look('a');
    await turn();
    expect(asked).to.deep.equal(['a', 'a']);
  });
});
