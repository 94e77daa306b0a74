import { expect } from 'chai';
import { oneAtATime, type Synced } from '../../../db/sqlite/durability.ts';

describe('syncs run one at a time, and', () => {
  /** Syncs that end when the test ends them, and a list of the callers that were notified. */
  function start() {
    const running: Synced[] = [];
    const told: string[] = [];
    const sync = oneAtATime((done) => running.push(done));
    const ask = (name: string) => sync((error) => told.push(error ? `${name} failed` : name));
    return { running, told, ask };
  }

  it('are shared by callers that arrive during a sync, which does not count for them', () => {
    const { running, told, ask } = start();
    for (const name of ['a', 'b', 'c']) ask(name);
    expect(running).to.have.length(1);
    running[0]?.(null);
    expect(told).to.deep.equal(['a']);
    expect(running).to.have.length(2);
    ask('d');
    running[1]?.(null);
    expect(told).to.deep.equal(['a', 'b', 'c']);
    running[2]?.(null);
    expect(told).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(running).to.have.length(3);
  });

  it('begin again after a pause', () => {
    const { running, told, ask } = start();
    ask('a');
    running[0]?.(null);
    expect(running).to.have.length(1);
    ask('b');
    running[1]?.(null);
    expect(told).to.deep.equal(['a', 'b']);
  });

  it('reject every caller that shares a failed one, because the kernel reports lost pages once', () => {
    const { running, told, ask } = start();
    for (const name of ['a', 'b']) ask(name);
    running[0]?.(new Error('the disk is gone'));
    expect(told).to.deep.equal(['a failed', 'b failed']);
    expect(running).to.have.length(1);
  });
});
