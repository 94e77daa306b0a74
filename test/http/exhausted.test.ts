import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { isExhausted } from '../../core/exhausted.ts';
import { expressEntryPoint } from '../../http/entry-points/express-entry-point.ts';
import { errorPage } from '../../http/entry-points/pages.ts';
import { Exchange } from '../../http/pipeline/exchange.ts';
import { wrap } from '../../wiring/overrides.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const tooManyFiles = () => Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });

describe('a process without free file descriptors (F16)', () => {
  let server: TestServer;
  let fails = false;

  before(async () => {
    server = await startTestServer({
      overrides: {
        ...NO_BACKGROUND,
        threads: wrap((threads) => ({
          ...threads,
          short: {
            ...threads.short,
            run: (...args) => (fails ? Promise.reject(tooManyFiles()) : threads.short.run(...args)),
          },
          imports: {
            ...threads.imports,
            run: () => Promise.reject(Object.assign(new Error('no thread'), { code: 'ERR_WORKER_INIT_FAILED' })),
          },
        })),
        store: wrap((store) => ({
          ...store,
          shareReads: () => {
            if (fails) throw new Error('cannot read', { cause: tooManyFiles() });
            return store.shareReads();
          },
        })),
      },
    });
  });
  after(() => server.stop());
  afterEach(() => {
    fails = false;
  });

  it('F16: returns 503 with Retry-After, and logs the reason', async () => {
    const document = { name: 'a.json', content: '{"openapi":"3.0.3"}' };
    const body = { connector: 'acme', files: [document] };
    const refused = await server.call('POST', '/api/v1/tools:import', { body });
    expect(refused.body).to.include({ status: 503, code: 'SERVER_BUSY' });
    expect(refused.headers['retry-after']).to.equal('1');
    expect(server.logs.join('\n')).to.include('ERR_WORKER_INIT_FAILED');

    fails = true;
    const read = await server.call('GET', '/api/v1/connections');
    expect(read.body).to.include({ status: 503, code: 'SERVER_BUSY' });
    fails = false;
    await createProvider(server);
    expect((await server.call('GET', '/api/v1/connections')).status).to.equal(200);
  });

  it('is distinguished from a bug of the program', () => {
    expect(isExhausted(new Error('outer', { cause: tooManyFiles() }))).to.equal(true);
    for (const error of [new TypeError('x'), Object.assign(new Error('x'), { code: 'ENOENT' }), 'EMFILE', undefined]) {
      expect(isExhausted(error)).to.equal(false);
    }
  });

  it('F16: serves pages again once their code can be loaded', async () => {
    let loads = 0;
    const app = ((_req: unknown, res: { locals: { settle(status: number): void } }) => res.locals.settle(200)) as never;
    const entryPoint = expressEntryPoint(
      'page',
      async () => {
        if (++loads === 1) throw tooManyFiles();
        return app;
      },
      errorPage,
    );
    const ask = () =>
      entryPoint.dispatch(new Exchange({} as IncomingMessage, {} as ServerResponse, 'req_1', 'page', () => 'unknown'));
    const failed = await ask().catch((error) => error);
    expect(isExhausted(failed)).to.equal(true);
    expect([await ask(), await ask()]).to.deep.equal([200, 200]);
    expect(loads).to.equal(2);
  });
});
