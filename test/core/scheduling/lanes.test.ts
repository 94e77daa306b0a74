import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type LaneLimits, Lanes, type ReleaseSlot } from '../../../core/scheduling/lanes.ts';

/** Lets entries wait in lanes (one queue for each key), and records the order in which they get their slots. */
function crowd(limits: LaneLimits) {
  const lanes = new Lanes(limits);
  const entered: string[] = [];
  const leaves = new Map<string, ReleaseSlot>();
  return {
    lanes,
    entered,
    /** The first letter of the name is the lane: `a1` belongs to the lane `a`. */
    async enter(name: string, signal?: AbortSignal): Promise<void> {
      const leave = await lanes.enter(name[0] as string, signal);
      leaves.set(name, leave);
      entered.push(name);
    },
    async leave(name: string): Promise<void> {
      leaves.get(name)?.();
      await turn();
    },
  };
}

describe('lanes', () => {
  it('give a slot immediately, without a promise, if one is free', () => {
    const lanes = new Lanes({ perLane: 1 });
    const place = lanes.enter('a');
    expect(place).to.be.a('function');
    expect(lanes.enter('a')).to.be.a('promise');
    (place as ReleaseSlot)();
  });

  it('have separate slots without a limit for all of them', async () => {
    const { entered, enter, leave } = crowd({ perLane: 2 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) void enter(name);
    await turn();
    expect(entered).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
    await leave('b1');
    expect(entered.slice(4)).to.deep.equal(['b3']);
    await leave('a2');
    expect(entered.slice(5)).to.deep.equal(['a3']);
  });

  it('give slots in the order of arrival within a lane, and alternate between lanes', async () => {
    const { entered, enter, leave } = crowd({ total: 1, perLane: 1 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void enter(name);
    await turn();
    expect(entered).to.deep.equal(['a1']);
    for (const name of ['a1', 'a2', 'b1', 'a3']) await leave(name);
    expect(entered).to.deep.equal(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('leave a slot for another lane, regardless of how many wait in one', async () => {
    const { entered, enter, lanes } = crowd({ total: 8, perLane: 8 });
    for (let n = 0; n < 100; n++) void enter(`a${n}`);
    await turn();
    expect(entered).to.have.lengthOf(4);
    expect(lanes.isFree('a')).to.equal(false);
    expect(lanes.isFree('b')).to.equal(true);
  });

  it('pass a released slot on in the same turn of the event loop', async () => {
    const lanes = new Lanes({ perLane: 1 });
    const leave = lanes.tryEnter('a') as ReleaseSlot;
    const waiting = lanes.enter('a');
    leave();
    expect(lanes.tryEnter('a')).to.equal(undefined);
    expect(lanes.activeIn('a')).to.equal(1);
    (await waiting)();
    expect(lanes.tryEnter('a')).to.be.a('function');
  });

  it('admit as many as there are slots when the limit of a lane increases', async () => {
    let width = 1;
    const { entered, enter, leave } = crowd({ total: 100, perLane: () => width });
    for (const name of ['a1', 'a2', 'a3', 'a4']) void enter(name);
    await turn();
    expect(entered).to.deep.equal(['a1']);
    width = 2;
    await leave('a1');
    expect(entered).to.deep.equal(['a1', 'a2', 'a3']);
  });

  it('reject an entry with the configured error when too many wait, and accept one when fewer do', async () => {
    const full = (lane: string) => new RangeError(`the lane ${lane} is full`);
    const { enter, leave, lanes } = crowd({ perLane: 1, waiting: { limit: 1, full } });
    await enter('a1');
    void enter('a2');
    expect(() => lanes.enter('a')).to.throw(RangeError, 'the lane a is full');
    expect(lanes.enter('b')).to.be.a('function');
    await leave('a1');
    expect(lanes.enter('a')).to.be.a('promise');
  });

  it('end a wait with the reason of its signal, and give it no slot', async () => {
    const { entered, enter, leave, lanes } = crowd({ perLane: 1 });
    await enter('a1');
    const end = new AbortController();
    const ended = enter('a2', end.signal).catch((error: Error) => error.message);
    void enter('a3');
    end.abort(new Error('no longer wanted'));
    expect(await ended).to.equal('no longer wanted');
    expect(lanes.waitingIn('a')).to.equal(1);
    await leave('a1');
    expect(entered).to.deep.equal(['a1', 'a3']);
    expect(() => lanes.enter('b', end.signal)).to.throw('no longer wanted');
    expect(lanes.activeIn('b')).to.equal(0);
  });

  it('ignore a signal that is aborted after the slot was given', async () => {
    const { enter, leave, lanes } = crowd({ perLane: 1 });
    const end = new AbortController();
    await enter('a1');
    const waiting = enter('a2', end.signal);
    await leave('a1');
    end.abort();
    await waiting;
    expect(lanes.activeIn('a')).to.equal(1);
  });

  it('never have more entries than slots, in any order of events', async () => {
    const lanes = new Lanes({ total: 6, perLane: 3 });
    let inAll = 0;
    let most = 0;
    const mostIn = new Map<string, number>();
    const work = Array.from({ length: 600 }, async (_, n) => {
      const lane = 'abcd'[n % 4] as string;
      const leave = await lanes.enter(lane);
      most = Math.max(most, ++inAll);
      mostIn.set(lane, Math.max(mostIn.get(lane) ?? 0, lanes.activeIn(lane)));
      for (let turns = 0; turns < n % 3; turns++) await turn();
      inAll--;
      leave();
    });
    await Promise.all(work);
    expect(most).to.be.within(2, 6);
    expect(Math.max(...mostIn.values())).to.be.within(1, 3);
    for (const lane of 'abcd') expect([lanes.activeIn(lane), lanes.waitingIn(lane)]).to.deep.equal([0, 0]);
  });
});
