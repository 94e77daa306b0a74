import { expect } from 'chai';
import { eventually } from './local.ts';

describe('eventually', () => {
  it('gives up after a number of turns and names the condition', async () => {
    let asked = 0;
    const never = () => ++asked > 10;
    const error = await eventually(never, 3).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message).to.equal('after 3 turns of the event loop this still does not hold: () => ++asked > 10');
    expect(asked).to.equal(4);
  });

  it('resolves in the turn in which the condition holds', async () => {
    let asked = 0;
    await eventually(() => ++asked === 3, 3);
    expect(asked).to.equal(3);
  });
});
