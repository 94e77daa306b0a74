import { expect } from 'chai';
import { createReplySpace } from '../../http/pipeline/reply-space.ts';

const LIMIT = 100;

describe('the space for responses of idempotency keys', () => {
  it('is taken by requests at the same time only once', () => {
    const space = createReplySpace();
    const [one, two, other] = [space.begin('env', 'a'), space.begin('env', 'a'), space.begin('env', 'b')];
    expect(one.take(60, 0, LIMIT)).to.equal(true);
    expect(two.take(60, 0, LIMIT)).to.equal(false);
    expect(two.take(40, 0, LIMIT)).to.equal(true);
    expect(other.take(100, 0, LIMIT), 'of another client').to.equal(true);
    expect(one.take(60, 0, LIMIT), 'the same request again, when its transaction is repeated').to.equal(true);
  });

  it('counts what was stored after a request has read what is stored', () => {
    const space = createReplySpace();
    const early = space.begin('env', 'a');
    const one = space.begin('env', 'a');
    expect(one.take(60, 0, LIMIT)).to.equal(true);
    one.end();
    expect(early.take(60, 0, LIMIT)).to.equal(false);
    expect(space.begin('env', 'a').take(60, 60, LIMIT)).to.equal(false);
    expect(space.begin('env', 'a').take(40, 60, LIMIT)).to.equal(true);
  });

  it('depends on what is stored alone, when no request is running', () => {
    const space = createReplySpace();
    const one = space.begin('env', 'a');
    expect(one.take(100, 0, LIMIT)).to.equal(true);
    one.end();
    const two = space.begin('env', 'a');
    expect(two.take(100, 0, LIMIT), 'the stored response has expired').to.equal(true);
    two.end();
  });
});
