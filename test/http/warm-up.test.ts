import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { expressEntryPoint } from '../../http/entry-points/express-entry-point.ts';
import { errorPage } from '../../http/entry-points/pages.ts';
import { createLogger } from '../../http/monitoring/log.ts';
import { Exchange } from '../../http/pipeline/exchange.ts';
import { ContractBackend } from '../../http/routing/backend.ts';
import { readContract } from '../../http/validation/served-contract.ts';
import { warmUp } from '../../http/warm-up.ts';
import { startTestServer } from '../support/server.ts';

const log = createLogger('silent', { write: () => {} });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('S3: preparing after a start what first requests need', () => {
  it('S3: runs each step in a separate turn, so that requests run between two of them', async () => {
    const order: string[] = [];
    const steps = ['a', 'b', 'c'].map((name) => ({ name, run: () => order.push(name) }));
    let requests = 0;
    const pause = async () => {
      setImmediate(() => order.push(`request ${++requests}`));
      await nextTurn();
    };
    await warmUp(steps, pause, () => false, log);
    expect(order).to.deep.equal(['request 1', 'a', 'request 2', 'b', 'request 3', 'c']);
  });

  it('S3: continues after a step that fails, and logs its name', async () => {
    const done: string[] = [];
    const warned: object[] = [];
    const steps = [
      { name: 'broken', run: () => Promise.reject(new Error('no')) },
      { name: 'whole', run: () => done.push('whole') },
    ];
    await warmUp(steps, nextTurn, () => false, { warn: (fields: object) => void warned.push(fields) } as never);
    expect(done).to.deep.equal(['whole']);
    expect(warned).to.have.length(1);
    expect(warned[0]).to.have.property('step', 'broken');
  });

  it('S3: leaves out the remaining steps when the server stops', async () => {
    const done: string[] = [];
    const steps = ['first', 'second'].map((name) => ({ name, run: () => done.push(name) }));
    await warmUp(steps, nextTurn, () => done.length > 0, log);
    expect(done).to.deep.equal(['first']);
  });

  it('S3: loads the validators of requests, one module in a step, and none before', async () => {
    const loaded: string[] = [];
    const { routes, validators } = readContract();
    const recorded: typeof validators = (name) => {
      loaded.push(name);
      return validators(name);
    };
    const backend = new ContractBackend({ routes, validators: recorded });
    await backend.init();
    expect(loaded).to.deep.equal([]);
    for (const { run } of backend.warmUpSteps()) run();
    expect(loaded).to.deep.equal(['parameters', 'bodies']);
  });

  it('S3: loads pages once for the preparation and the requests', async () => {
    let loads = 0;
    const load = async () => {
      loads++;
      return ((_req: unknown, res: { locals: { settle(status: number): void } }) => res.locals.settle(200)) as never;
    };
    const entryPoint = expressEntryPoint('page', load, errorPage);
    await entryPoint.load();
    const exchange = new Exchange({} as IncomingMessage, {} as ServerResponse, 'req_1', 'page', () => 'unknown');
    expect(await entryPoint.dispatch(exchange)).to.equal(200);
    expect(loads).to.equal(1);
  });

  it('S3: prepares a running server, which can stop in the middle of it', async () => {
    const server = await startTestServer();
    const warming = server.warmUp();
    expect((await server.call('GET', '/docs', { token: null })).status).to.equal(200);
    await server.stop();
    await warming;
    expect(server.logs.filter((line) => line.includes('prepared in advance'))).to.deep.equal([]);
  });
});
