import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { operationsOf, parametersOf } from '../../scripts/openapi-document.ts';
import { OAUTH_OPERATIONS, requestOf, withDefaults } from '../support/contract-requests.ts';
import { claimKey } from '../support/idempotency.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { contract } from './contract.ts';

const TAKING_KEYS = operationsOf(contract).filter((operation) =>
  parametersOf(contract, operation).some(({ name }) => name === 'Idempotency-Key'),
);

describe('idempotency keys of every operation that takes them (C13)', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  /** Sends the request of the contract's example under a key that another request has taken. */
  async function sendUnder(key: string, operation: Operation, requestDigest?: Buffer) {
    const { method, path, request } = requestOf(operation);
    const body = request.body && withDefaults(operation, request.body as JsonObject);
    await claimKey(server, key, { route: operation.id, method, path, body, requestDigest });
    return server.call(method, path, { ...request, headers: { ...request.headers, 'idempotency-key': key } });
  }

  it('are accepted by all POST operations except those of OAuth', () => {
    const posts = operationsOf(contract).filter(({ method }) => method === 'post');
    expect(posts.map(({ id }) => id)).to.have.members([...TAKING_KEYS.map(({ id }) => id), ...OAUTH_OPERATIONS]);
  });

  for (const operation of TAKING_KEYS) {
    it(`return 409 at ${operation.id} while the first request runs`, async () => {
      const answer = await sendUnder('still-running', operation);
      expect(answer.status).to.equal(409);
      expect(answer.body.code).to.equal('IDEMPOTENCY_KEY_IN_USE');
    });

    it(`return 422 at ${operation.id} for a different request with the same key`, async () => {
      const answer = await sendUnder('another-content', operation, randomBytes(32));
      expect(answer.status).to.equal(422);
      expect(answer.body.code).to.equal('IDEMPOTENCY_KEY_REUSED');
    });
  }
});
