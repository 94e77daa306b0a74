import { expect } from 'chai';
import { ByteBudget } from '../../core/budgets/byte-budget.ts';
import { BODIES } from '../../core/budgets.ts';
import type { EnvironmentId } from '../../db/store.ts';
import { createEnvironmentEgress, type EnvironmentEgress } from '../../wiring/environment-egress.ts';
import { eventually, failureOf, get } from '../core/net/local.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const ONE = { id: 'env_one' as EnvironmentId, kind: 'DEVELOPMENT' } as const;
const OTHER = { id: 'env_other' as EnvironmentId, kind: 'DEVELOPMENT' } as const;
const PRODUCTION = { id: 'env_production' as EnvironmentId, kind: 'PRODUCTION' } as const;

describe('outgoing calls of environments', () => {
  let upstream: Upstream;
  let ways: EnvironmentEgress;
  let asked: string[];

  beforeEach(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, {}));
    asked = [];
    const resolver = (hostname: string) => {
      asked.push(hostname);
      return new Promise<never>(() => {});
    };
    const settings = {
      egressAllow: `127.0.0.1:${upstream.port},gone.example:8443`,
      endpointOverrides: upstream.endpointOverride('https://api.example.com'),
    };
    const options = { resolver, limits: { callsPerOrigin: 1, queuePerOrigin: 1 } };
    ways = createEnvironmentEgress(settings, new ByteBudget(BODIES), options);
  });
  afterEach(async () => {
    await ways.close();
    await upstream.stop();
  });

  it('to loopback and overrides are allowed in development only', async () => {
    const refused = await failureOf(ways.of(PRODUCTION).send(get(`http://127.0.0.1:${upstream.port}/`)));
    expect(refused).to.include({ kind: 'blocked', sent: false });
    expect((await ways.of(ONE).send(get('https://api.example.com/'))).status).to.equal(200);
    const { status } = await ways.of(ONE).send(get(`http://127.0.0.1:${upstream.port}/`));
    expect(status).to.equal(200);
  });

  it('have the same policy for the same environment', () => {
    expect(ways.of({ ...ONE })).to.equal(ways.of(ONE));
    expect(ways.of(OTHER)).not.to.equal(ways.of(ONE));
  });

  it('E11: use no slot of another environment at the same host', async () => {
    upstream.handler = () => {};
    const stop = new AbortController();
    const call = (signal?: AbortSignal) => get('https://api.example.com/', signal && { signal });
    const hanging = [1, 2].map(() => failureOf(ways.of(ONE).send(call(stop.signal))));
    await eventually(() => upstream.requests.length === 1);
    expect((await failureOf(ways.of(ONE).send(call()))).message).to.contain('are waiting');
    upstream.handler = (_request, res) => json(res, 200, {});
    expect((await ways.of(OTHER).send(call())).status).to.equal(200);
    stop.abort();
    await Promise.all(hanging);
  });

  it('E11: do not treat a host as failing because of another environment', async () => {
    upstream.handler = (_request, res) => res.destroy();
    for (let count = 0; count < 6; count++) await failureOf(ways.of(ONE).send(get('https://api.example.com/')));
    const requests = upstream.requests.length;
    expect((await failureOf(ways.of(ONE).send(get('https://api.example.com/')))).retryAfterMs).to.be.greaterThan(0);
    expect(upstream.requests).to.have.length(requests);
    upstream.handler = (_request, res) => json(res, 200, {});
    expect((await ways.of(OTHER).send(get('https://api.example.com/'))).status).to.equal(200);
  });

  it('M2: continue while names of another environment cannot be resolved', async () => {
    const stop = new AbortController();
    const hanging = [1, 2].map(() =>
      failureOf(ways.of(ONE).send(get('https://gone.example:8443/', { signal: stop.signal }))),
    );
    await eventually(() => asked.length === 1);
    expect((await ways.of(OTHER).send(get('https://api.example.com/'))).status).to.equal(200);
    stop.abort();
    expect((await Promise.all(hanging)).map(({ kind }) => kind)).to.deep.equal(['aborted', 'aborted']);
  });
});
