import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { OpenAPIValidator } from 'openapi-backend';
import { expressEntryPoint } from '../../http/entry-points/express-entry-point.ts';
import { errorPage } from '../../http/entry-points/pages.ts';
import { createLogger } from '../../http/monitoring/log.ts';
import { Exchange } from '../../http/pipeline/exchange.ts';
import { ContractBackend } from '../../http/routing/backend.ts';
import { readDefinition } from '../../http/validation/definition.ts';
import { warmUp } from '../../http/warm-up.ts';
import { startTestServer } from '../support/server.ts';

const log = createLogger('silent', { write: () => {} });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('S3: preparing after a start what first requests would wait for', () => {
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

  describe('the validators of operations', () => {
    const { buildRequestValidatorsForOperation: build } = OpenAPIValidator.prototype;
    let compiled: string[];

    before(() => {
      OpenAPIValidator.prototype.buildRequestValidatorsForOperation = function (operation) {
        compiled.push(operation.operationId as string);
        return build.call(this, operation);
      };
    });
    beforeEach(() => {
      compiled = [];
    });
    after(() => {
      OpenAPIValidator.prototype.buildRequestValidatorsForOperation = build;
    });

    async function warm() {
      const backend = new ContractBackend(readDefinition());
      await backend.init();
      expect(compiled).to.deep.equal([]);
      for (const [index, { run }] of backend.warmUpSteps().entries()) {
        run();
        expect(compiled).to.have.length(index + 1);
      }
      return backend;
    }

    it('S3: compiles those that every request needs first, one operation in a step', async () => {
      const backend = await warm();
      const operations = backend.routes.getOperations().map(({ operationId }) => operationId);
      expect(compiled.slice(0, operations.length)).to.deep.equal(operations);
    });

    it('S3: compiles then those that find every error of a body, so that no refused request compiles any', async () => {
      const backend = await warm();
      const { length } = compiled;
      const body = { auth_patterns: [{ type: 'API_KEY', fields: [{}] }] };
      const operation = backend.routes
        .getOperations()
        .find(({ operationId }) => operationId === 'createCustomProvider');
      const request = { method: 'post', path: '/', params: {}, query: {}, headers: {}, requestBody: body };
      const { errors } = backend.validator.validateRequest(
        { ...request, body, bodyBytes: 100 } as never,
        operation as never,
      );
      expect(errors?.length).to.be.greaterThan(1);
      expect(compiled).to.have.length(length);
    });
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

  it('S3: prepares a running server, which stops in the middle of it', async () => {
    const server = await startTestServer();
    const warming = server.warmUp();
    expect((await server.call('GET', '/docs', { token: null })).status).to.equal(200);
    await server.stop();
    await warming;
    expect(server.logs.filter((line) => line.includes('prepared in advance'))).to.deep.equal([]);
  });
});
