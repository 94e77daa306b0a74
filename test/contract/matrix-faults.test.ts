import { expect } from 'chai';
import { StorageError } from '../../db/store.ts';
import type { JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { arrayAt, operationsOf } from '../../scripts/openapi-document.ts';
import { wrap } from '../../wiring/overrides.ts';
import { mediaTypeOf, OAUTH_OPERATIONS, requestOf } from '../support/contract-requests.ts';
import type { FaultPlace } from '../support/failing-store.ts';
import { failingStore } from '../support/failing-store.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { contract } from './contract.ts';

const CANARY = 'CANARY-select-secret-from-/var/lib/valetkey.db';
const OPERATIONS = operationsOf(contract);
const PROBES = ['getHealth', 'getReadiness'];

/** Operations that read only the catalogue or memory. */
const METADATA = ['getAuthorizationServerMetadata', 'getIdentityProviderMetadata', 'getJwks'];
// The address in the example is not sealed by this server, so it is rejected without reading the storage.
const WITHOUT_STORAGE = ['downloadFile', ...METADATA, ...PROBES];

type Place = FaultPlace | 'host';

/** Operations other than GET whose example is rejected before anything is written. */
const READING = ['issueToken', 'revokeOAuthToken'];

describe('internal errors in every operation', () => {
  let server: TestServer;
  const fault = { place: undefined as Place | undefined, error: (): Error => new Error(CANARY) };

  before(async () => {
    server = await startTestServer({
      overrides: {
        ...NO_BACKGROUND,
        store: wrap((store) => failingStore(store, fault as { place: FaultPlace | undefined; error(): Error })),
        environmentOf: wrap(
          (environmentOf) => (host) => (fault.place === 'host' ? Promise.reject(fault.error()) : environmentOf(host)),
        ),
      },
    });
  });
  afterEach(() => {
    fault.place = undefined;
  });
  after(() => server.stop());

  function send(operation: Operation): Promise<TestResponse> {
    const { method, path, request } = requestOf(operation);
    return server.call(method, path, { ...request, headers: { ...request.headers, 'x-request-id': 'run-7' } });
  }

  async function fail(operation: Operation, place: Place, error: () => Error): Promise<TestResponse> {
    Object.assign(fault, { place, error });
    server.logs.length = 0;
    const answer = await send(operation);
    fault.place = undefined;
    return answer;
  }

  /**
   * Expects a response without any detail of the failure, and a log line with all details under the request id of the
   * response.
   */
  function expectFixedText(operation: Operation, answer: TestResponse, wanted: JsonObject): void {
    expect(answer.text, operation.id).not.to.match(/CANARY|select|\.ts|stack|SQLITE|valetkey\.db/);
    expect(answer.headers['cache-control']).to.equal('no-store');
    if (OAUTH_OPERATIONS.includes(operation.id)) {
      const error = wanted['status'] === 503 ? 'temporarily_unavailable' : 'server_error';
      expect(answer.body).to.deep.equal({ error, error_description: wanted['detail'] });
      expect(answer.headers['content-type']).to.equal('application/json');
    } else {
      const type = `/docs/errors#${String(wanted['code']).toLowerCase()}`;
      expect(answer.body).to.deep.equal({ type, ...wanted, request_id: 'run-7' });
      expect(answer.headers['content-type']).to.equal('application/problem+json');
    }
    const [line, ...others] = server.logs.map((text) => JSON.parse(text)).filter(({ level }) => level >= 50);
    expect(others).to.deep.equal([]);
    expect(line).to.include({ msg: 'request failed', request_id: 'run-7' });
    expect(line.err.message).to.equal(CANARY);
  }

  function expectInternalError(operation: Operation, answer: TestResponse): void {
    expect(answer.status, operation.id).to.equal(500);
    const detail = 'The request failed because of an internal error of the server.';
    expectFixedText(operation, answer, { title: 'Internal error', status: 500, detail, code: 'INTERNAL_ERROR' });
  }

  function expectUnavailable(operation: Operation, answer: TestResponse): void {
    expect(answer.status, operation.id).to.equal(503);
    expect(answer.headers['retry-after'], operation.id).to.equal('5');
    const text = 'The database is unavailable';
    const detail = `${text}. Try again later.`;
    expectFixedText(operation, answer, { title: text, status: 503, detail, code: 'STORAGE_UNAVAILABLE' });
  }

  const broken = () => new Error(CANARY);
  let failures = 0;
  // A new code for each failure, because the log reports each code only once a minute.
  const full = () => new StorageError(`SQLITE_FULL_${++failures}`, CANARY, { cause: new Error(CANARY) });

  for (const operation of OPERATIONS.filter(({ id }) => !PROBES.includes(id))) {
    const isSecured = arrayAt(operation.definition, 'security').length > 0;

    it(`make ${operation.id} return 500 or 503 with a fixed text, and are logged (S4)`, async () => {
      for (const place of isSecured ? (['host', 'client'] as const) : (['host'] as const)) {
        expectInternalError(operation, await fail(operation, place, broken));
        expectUnavailable(operation, await fail(operation, place, full));
      }
      expect((await send(operation)).status, 'and afterwards').to.be.below(500);
    });

    if (WITHOUT_STORAGE.includes(operation.id)) {
      it(`of the storage do not reveal their text to callers of ${operation.id}`, async () => {
        for (const place of ['read', 'write'] as const) {
          expect((await fail(operation, place, broken)).status).to.be.below(500);
        }
      });
      continue;
    }

    it(`of the storage make ${operation.id} return 500 or 503, also in the middle of a request (S4)`, async () => {
      const isWriting = operation.method !== 'get' && !READING.includes(operation.id);
      const place = isWriting ? 'write' : 'read';
      expectInternalError(operation, await fail(operation, place, broken));
      expectUnavailable(operation, await fail(operation, place, full));
    });
  }

  it('include a thrown value that is not an Error', async () => {
    const operation = OPERATIONS.find(({ id }) => id === 'listConnectedAccounts') as Operation;
    const answer = await fail(operation, 'read', () => 'a string' as unknown as Error);
    expect(answer.status).to.equal(500);
    expect(answer.text).not.to.include('a string');
  });

  it('do not change the liveness probe: it returns 200 while the process runs', async () => {
    for (const operation of OPERATIONS.filter(({ id }) => PROBES.includes(id))) {
      for (const place of ['host', 'client', 'read', 'write'] as const) {
        expect((await fail(operation, place, broken)).status, operation.id).to.equal(200);
      }
    }
  });

  it('cover every operation that takes a body', () => {
    expect(OPERATIONS.filter(mediaTypeOf).every(({ id }) => !WITHOUT_STORAGE.includes(id))).to.equal(true);
  });
});

describe('a server that is not ready', () => {
  let server: TestServer | undefined;

  afterEach(() => server?.stop());

  for (const checks of [
    { database: false, keys: true },
    { database: true, keys: false },
  ]) {
    it(`returns 503 at /readyz with the reason: ${JSON.stringify(checks)}`, async () => {
      server = await startTestServer({ overrides: { readiness: async () => checks } });
      const answer = await server.call('GET', '/readyz', { token: null });
      expect(answer.status).to.equal(503);
      const word = (isFine: boolean) => (isFine ? 'ok' : 'failing');
      const wanted = { database: word(checks.database), keys: word(checks.keys) };
      expect(answer.body).to.deep.include({ status: 'not_ready', checks: wanted });
      expect((await server.call('GET', '/healthz', { token: null })).status).to.equal(200);
    });
  }
});
