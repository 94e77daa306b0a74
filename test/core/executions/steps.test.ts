import { expect } from 'chai';
import { STORED } from '../../../core/budgets.ts';
import { createStepLog, recordedSteps } from '../../../core/executions/steps.ts';

describe('the steps of an execution', () => {
  let time: number;
  const takes = async <T>(ms: number, result: T): Promise<T> => {
    time += ms;
    return result;
  };
  beforeEach(() => {
    time = Date.parse('2026-11-23T10:00:00Z');
  });

  it('have a time, a duration and a status', async () => {
    const log = createStepLog(() => time);
    await log.request(() => takes(40, { status: 503 }));
    await log.wait(() => takes(250, undefined));
    expect(log.steps).to.deep.equal([
      {
        kind: 'REQUEST',
        started_at: '2026-11-23T10:00:00.000Z',
        duration_ms: 40,
        upstream_status: 503,
        error_kind: null,
      },
      {
        kind: 'WAIT',
        started_at: '2026-11-23T10:00:00.040Z',
        duration_ms: 250,
        upstream_status: null,
        error_kind: null,
      },
    ]);
  });

  it('contain the kind of a failure, and throw it again', async () => {
    const log = createStepLog(() => time);
    const failure = Object.assign(new Error('too late'), { kind: 'timeout', sent: true });
    let thrown: unknown;
    await log.request(() => Promise.reject(failure)).catch((error: unknown) => (thrown = error));
    expect(thrown).to.equal(failure);
    expect(log.steps[0]).to.include({ upstream_status: null, error_kind: 'upstream_timeout' });
  });

  it('contain a refresh only if there was one', async () => {
    const log = createStepLog(() => time);
    await log.refresh(
      () => takes(1, 'nothing'),
      () => undefined,
    );
    expect(log.steps).to.have.length(0);
    await log.refresh(
      () => takes(1, 'new'),
      () => true,
    );
    await log.refresh(
      () => takes(1, 'none'),
      () => false,
    );
    expect(log.steps.map((step) => step.error_kind)).to.deep.equal([null, 'upstream_auth']);
  });

  it('are bounded', async () => {
    const log = createStepLog(() => time);
    for (let n = 0; n < STORED.executionSteps + 5; n++) await log.request(() => takes(1, { status: 200 }));
    expect(log.steps).to.have.length(STORED.executionSteps);
  });

  it('are recorded without contents if the record does not describe them already, and up to a limit', async () => {
    const log = createStepLog(() => time);
    expect(recordedSteps(log.steps)).to.equal(undefined);
    await log.request(() => takes(1, { status: 200 }));
    expect(recordedSteps(log.steps)).to.equal(undefined);
    for (let count = 0; count < STORED.bareExecutionSteps; count++) await log.wait(() => takes(1, undefined));
    expect(JSON.parse(recordedSteps(log.steps) ?? '')).to.deep.equal(log.steps.slice(0, STORED.bareExecutionSteps));

    const refresh = createStepLog(() => time);
    await refresh.refresh(
      () => takes(1, 'none'),
      () => false,
    );
    expect(JSON.parse(recordedSteps(refresh.steps) ?? '')).to.deep.equal(refresh.steps);
  });
});
