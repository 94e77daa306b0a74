import { expect } from 'chai';
import { createClock } from '../../../core/scheduling/clock.ts';

describe('the clock of a process', () => {
  /** The clock of a machine, and the time that passes. */
  function machine() {
    const state = { wall: 1_000_000, elapsed: 50 };
    const clock = createClock(
      () => state.wall,
      () => state.elapsed,
    );
    return { state, clock };
  }

  it('returns the time of the machine until it follows another clock', async () => {
    const { state, clock } = machine();
    state.wall += 7;
    expect(clock.now()).to.equal(1_000_007);
    await clock.follow(async () => 5_000_000);
    expect(clock.now()).to.equal(5_000_000);
  });

  it('advances with the elapsed time, also when the clock of the machine changes', async () => {
    const { state, clock } = machine();
    await clock.follow(async () => 5_000_000);
    state.wall -= 600_000;
    state.elapsed += 1500.7;
    expect(clock.now()).to.equal(5_001_500);
  });

  it('assumes that a reading was taken in the middle of its round trip', async () => {
    const { state, clock } = machine();
    await clock.follow(async () => {
      state.elapsed += 400;
      return 5_000_000;
    });
    expect(clock.now()).to.equal(5_000_200);
  });

  it('ignores a reading that took long, except the first one', async () => {
    const { state, clock } = machine();
    const slow = (at: number) => async () => {
      state.elapsed += 3000;
      return at;
    };
    await clock.follow(slow(5_000_000));
    expect(clock.now()).to.equal(5_001_500);
    await clock.follow(slow(9_000_000));
    expect(clock.now()).to.equal(5_004_500);
    await clock.follow(async () => 5_004_000);
    expect(clock.now()).to.equal(5_004_000);
  });

  it('continues when the other clock cannot be read', async () => {
    const { state, clock } = machine();
    await clock.follow(async () => 5_000_000);
    const error = await clock.follow(() => Promise.reject(new Error('unreachable'))).catch((caught) => caught);
    expect(error.message).to.equal('unreachable');
    state.elapsed += 10;
    expect(clock.now()).to.equal(5_000_010);
  });
});
