import { expect } from 'chai';
import { OriginBreaker } from '../../../core/net/breaker.ts';
import { EgressError } from '../../../core/net/egress-error.ts';

const LIMITS = { breakerFailures: 3, breakerPauseMs: 1_000, breakerMaxPauseMs: 3_000 };
const DEAD = 'https://dead.example';
const lost = () => Promise.reject(new EgressError('unreachable', 'Lost.', { sent: true }));

describe('the circuit breaker of an origin (E11)', () => {
  let now = 0;
  let breaker: OriginBreaker;
  let calls = 0;

  beforeEach(() => {
    now = 0;
    calls = 0;
    breaker = new OriginBreaker(LIMITS, () => now);
  });

  async function call(work: () => Promise<unknown>, origin = DEAD): Promise<string> {
    const counted = () => {
      calls++;
      return work();
    };
    return breaker.run(origin, counted).then(
      () => 'answered',
      (error: EgressError) => (error.retryAfterMs === undefined ? error.kind : `refused ${error.retryAfterMs}`),
    );
  }

  async function open(): Promise<void> {
    for (let count = 0; count < LIMITS.breakerFailures; count++) await call(lost);
    calls = 0;
  }

  it('rejects calls after several failures, and returns for how long', async () => {
    expect([await call(lost), await call(lost), await call(lost)]).to.deep.equal(Array(3).fill('unreachable'));
    expect(await call(lost)).to.equal('refused 1000');
    expect(calls).to.equal(3);
    expect(() => breaker.check(DEAD))
      .to.throw(EgressError)
      .that.includes({ kind: 'unreachable', sent: false });
    expect(await call(async () => 1, 'https://lively.example')).to.equal('answered');
  });

  it('counts consecutive failures: any response between them resets the count', async () => {
    for (const work of [lost, lost, async () => 503, lost, lost]) await call(work);
    expect(await call(lost)).to.equal('unreachable');
    expect(calls).to.equal(6);
  });

  it('does not count failures that the host did not cause: policy, sizes, invalid responses, callers who disconnected', async () => {
    for (const kind of ['blocked', 'too_large', 'invalid_response', 'aborted', 'tls'] as const) {
      for (let count = 0; count < 5; count++) await call(() => Promise.reject(new EgressError(kind, 'Not that.')));
    }
    expect(await call(async () => 1)).to.equal('answered');
  });

  it('sends one probe after the pause, and every other call waits for it', async () => {
    await open();
    now = 1_000;
    let answer = (_value: unknown): void => {};
    const probe = call(() => new Promise((resolve) => (answer = resolve)));
    expect(await call(lost)).to.match(/^refused/);
    answer(1);
    expect(await probe).to.equal('answered');
    expect(calls).to.equal(1);
    expect(await call(async () => 1)).to.equal('answered');
  });

  it('pauses longer after each failed probe, up to a maximum', async () => {
    await open();
    const pauses: number[] = [];
    for (let probes = 0; probes < 4; probes++) {
      const refused = await call(lost);
      const pause = Number(refused.split(' ')[1]);
      pauses.push(pause);
      now += pause;
      expect(await call(lost)).to.equal('unreachable');
    }
    expect(pauses).to.deep.equal([1_000, 2_000, 3_000, 3_000]);
  });

  it('is not kept open by calls that were running when it opened', async () => {
    const late: (() => void)[] = [];
    const hanging = Array.from({ length: 5 }, () =>
      call(
        () =>
          new Promise((_resolve, reject) => {
            late.push(() => reject(new EgressError('timeout', 'Late.', { sent: true })));
          }),
      ),
    );
    await open();
    now = 900;
    for (const end of late) end();
    await Promise.all(hanging);
    now = 1_000;
    expect(await call(async () => 1)).to.equal('answered');
  });

  it('closes after a response with any status', async () => {
    await open();
    now = 1_000;
    expect(await call(() => Promise.reject(new EgressError('too_large', 'Much.', { sent: true })))).to.equal(
      'too_large',
    );
    expect(await call(lost)).to.equal('unreachable');
    expect(await call(async () => 1)).to.equal('answered');
  });

  it('ignores a probe that its caller stopped', async () => {
    await open();
    now = 1_000;
    expect(await call(() => Promise.reject(new EgressError('aborted', 'Left.')))).to.equal('aborted');
    expect(await call(async () => 1)).to.equal('answered');
  });
});
