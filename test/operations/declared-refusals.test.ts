import { expect } from 'chai';
import type { Operation } from '../../scripts/openapi-document.ts';
import { objectAt, operationsOf, parametersOf } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { mediaTypeOf, requestOf } from '../support/contract-requests.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

const operations = operationsOf(contract);
const declares = (operation: Operation, status: string) => status in objectAt(operation.definition, 'responses');
const takesKey = (operation: Operation) =>
  parametersOf(contract, operation).some((parameter) => parameter['name'] === 'Idempotency-Key');

/** Refusals that every operation has in common, produced from the contract for each that declares them. */
describe('every operation', () => {
  describe('that takes parameters by name', () => {
    let server: TestServer;

    before(async () => {
      server = await startTestServer();
    });
    after(() => server.stop());

    for (const operation of operations.filter((one) => declares(one, '400'))) {
      it(`400 for a parameter that it does not know: ${operation.id}`, async () => {
        const { method, path, request } = requestOf(operation, { query: { unknown_parameter: '1' } });
        const answer = await server.call(method, path, request);
        expect(answer.status, answer.text).to.equal(400);
        if (mediaTypeOf(operation) === 'application/x-www-form-urlencoded') {
          expect(answer.body.error).to.equal('invalid_request');
        } else {
          expect(answer.body.code).to.equal('VALIDATION_FAILED');
          expect(answer.body.errors).to.deep.include({ field: 'unknown_parameter', message: 'is not known here' });
        }
      });
    }
  });

  describe('that takes an idempotency key', () => {
    const keyed = operations.filter(takesKey);

    it('is one that creates or acts', () => {
      expect(keyed.map((operation) => operation.method)).to.deep.equal(keyed.map(() => 'post'));
      const without = operations.filter((one) => one.method === 'post' && !takesKey(one)).map((one) => one.id);
      expect(without.filter((id) => id !== 'issueToken')).to.deep.equal([]);
    });

    it('declares what the key can lead to', () => {
      for (const operation of keyed) {
        for (const status of ['400', '409', '422']) expect(declares(operation, status), operation.id).to.equal(true);
      }
    });

    for (const [status, code, sameContent] of [
      [409, 'IDEMPOTENCY_KEY_IN_USE', true],
      [422, 'IDEMPOTENCY_KEY_REUSED', false],
    ] as const) {
      describe(`${status} while another request has the key, with ${sameContent ? 'the same' : 'another'} content:`, () => {
        let server: TestServer;

        before(async () => {
          // Every key and every content has one digest: the first request with any key has them all.
          const digester = { digest: () => Buffer.alloc(32), equal: () => sameContent };
          server = await startTestServer({ adapt: () => ({ digester }) });
          const environment = await firstEnvironment(server);
          const at = server.deps.now();
          for (const operation of keyed) {
            const name = { clientId: CLIENT_ID, route: operation.id, keyDigest: Buffer.alloc(32) };
            const times = { createdAt: at, expiresAt: at + 60_000 };
            await server.deps.store.write((tx) =>
              tx.idempotencyKeys.claim(environment.id, { ...name, ...times, requestDigest: Buffer.alloc(32) }),
            );
          }
        });
        after(() => server.stop());

        for (const operation of keyed) {
          it(operation.id, async () => {
            const { method, path, request } = requestOf(operation);
            const headers = { ...request.headers, 'idempotency-key': 'any' };
            const answer = await server.call(method, path, { ...request, headers });
            expect(answer.body, answer.text).to.include({ status, code });
          });
        }
      });
    }

    describe('400 for a key that is none:', () => {
      let server: TestServer;

      before(async () => {
        server = await startTestServer();
      });
      after(() => server.stop());

      for (const operation of keyed) {
        it(operation.id, async () => {
          const { method, path, request } = requestOf(operation);
          const headers = { ...request.headers, 'idempotency-key': 'two words' };
          const answer = await server.call(method, path, { ...request, headers });
          expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
          expect(answer.body.errors[0].field).to.match(/^idempotency-key$/i);
        });
      }
    });
  });
});
