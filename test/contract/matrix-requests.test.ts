import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Operation } from '../../scripts/openapi-document.ts';
import { objectAt, operationsOf, parametersOf } from '../../scripts/openapi-document.ts';
import { mediaTypeOf, OAUTH_OPERATIONS, requestOf } from '../support/contract-requests.ts';
import type { TestRequest, TestResponse, TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { contract } from './contract.ts';

const OPERATIONS = operationsOf(contract);
const WITH_BODY = OPERATIONS.filter(mediaTypeOf);

/** The limit that the operation declares, or 256 KiB. */
function maxBodyBytes({ definition }: Operation): number {
  return Number(definition['x-valetkey-max-body-bytes'] ?? 256 * 1024);
}

/** Operations that are available on every host, because probes use the server's address. */
const ANY_HOST = ['getHealth', 'getReadiness'];

/** Documents that anyone may read and cache for a short time. */
const PUBLIC_DOCUMENTS = ['getAuthorizationServerMetadata', 'getIdentityProviderMetadata', 'getJwks'];

describe('invalid requests to every operation', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  async function send(operation: Operation, changes: Partial<TestRequest> = {}, query = {}): Promise<TestResponse> {
    const { method, path, request } = requestOf(operation, { query });
    const headers = { ...request.headers, ...changes.headers };
    return server.call(method, path, { ...request, ...changes, headers });
  }

  /**
   * Errors are problem documents, except at the token endpoint: it uses the format of RFC 6749 §5.2, where some
   * statuses do not exist.
   */
  function expectError(operation: Operation, answer: TestResponse, status: number, code: string): void {
    expect(answer.headers['cache-control'], operation.id).to.equal('no-store');
    if (OAUTH_OPERATIONS.includes(operation.id)) {
      expect(answer.status).to.equal(status === 415 ? 400 : status);
      expect(answer.headers['content-type']).to.equal('application/json');
      expect(answer.body).to.have.all.keys('error', 'error_description');
      const isMetadata = operation.id === 'registerOAuthClient' && answer.status === 400;
      expect(answer.body.error).to.equal(isMetadata ? 'invalid_client_metadata' : 'invalid_request');
      return;
    }
    expect(answer.status, operation.id).to.equal(status);
    expect(answer.headers['content-type'], operation.id).to.equal('application/problem+json');
    expect(answer.body, operation.id).to.include({ status, code });
    expect(answer.body.type, operation.id).to.equal(`/docs/errors#${code.toLowerCase()}`);
  }

  for (const operation of OPERATIONS) {
    describe(operation.id, () => {
      it('returns 400 for an unknown query parameter, and names it', async () => {
        const answer = await send(operation, {}, { no_such_parameter: '1' });
        expectError(operation, answer, 400, 'VALIDATION_FAILED');
        if (OAUTH_OPERATIONS.includes(operation.id)) return;
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0].field).to.equal('no_such_parameter');
        expect(answer.body.errors[0].message).to.match(/^unknown parameter( \(allowed: [a-z_, ]+\))?$/);
      });

      it('returns 400 for a percent escape in the query that is not UTF-8', async () => {
        const { method, path, request } = requestOf(operation);
        const broken = `${path}${path.includes('?') ? '&' : '?'}a=%ff`;
        expectError(operation, await server.call(method, broken, request), 400, 'MALFORMED_BODY');
      });

      it('echoes a request id that is safe for logs, and creates one otherwise (S5)', async () => {
        const echoed = await send(operation, { headers: { 'x-request-id': 'run-41.retry_2' } });
        expect(echoed.headers['x-request-id']).to.equal('run-41.retry_2');
        for (const given of ['with space', 'x'.repeat(101), '"quoted"', 'a;b']) {
          const minted = await send(operation, { headers: { 'x-request-id': given } });
          expect(minted.headers['x-request-id'], given).to.match(/^req_[0-9a-z]{26}$/);
        }
      });

      it('sets headers so that the response is not cached, sniffed, framed or used as a referrer', async () => {
        const { status, headers } = await send(operation);
        expect(status).to.be.below(500);
        const kept = PUBLIC_DOCUMENTS.includes(operation.id);
        expect(headers['cache-control']).to.equal(kept ? 'public, max-age=300' : 'no-store');
        expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
        expect(headers['content-security-policy']).to.include("frame-ancestors 'none'");
        expect(headers).not.to.have.any.keys('server', 'x-powered-by');
      });

      if (ANY_HOST.includes(operation.id)) {
        it('responds to any host name if no hosts are configured', async () => {
          expect((await send(operation, { headers: { host: '203.0.113.7:8080' } })).status).to.equal(200);
        });
      } else {
        it('returns 421 for an unknown host, before any other check', async () => {
          for (const host of ['unknown.example.test', 'localhost.example.test', 'xlocalhost']) {
            const answer = await send(operation, { headers: { host, 'x-forwarded-host': 'localhost' }, token: null });
            expectError(operation, answer, 421, 'UNKNOWN_HOST');
          }
        });
      }
    });
  }

  for (const operation of WITH_BODY) {
    describe(`the body of ${operation.id}`, () => {
      const mediaType = mediaTypeOf(operation) as string;

      it(`may have ${maxBodyBytes(operation) / 1024} KiB and not one byte more: 413 (S1)`, async () => {
        const limit = maxBodyBytes(operation);
        const headers = { 'content-type': mediaType };
        const largest = await send(operation, { body: 'x'.repeat(limit), headers });
        // The body is read completely and then rejected for its content. As a form it is a single name, which a token
        // endpoint ignores.
        expect(largest.status).to.be.oneOf([400, 401]);
        const larger = await send(operation, { body: 'x'.repeat(limit + 1), headers });
        expectError(operation, larger, 413, 'BODY_TOO_LARGE');
      });

      it(`is ${mediaType} in UTF-8: anything else is 415`, async () => {
        const { request } = requestOf(operation);
        const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
        const types = ['text/plain', 'application/xml', `${mediaType}+x`, `${mediaType}; charset=utf-16`, ''];
        for (const type of types) {
          const answer = await send(operation, { body, headers: { 'content-type': type } });
          expectError(operation, answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
        }
        const spelled = `${mediaType.toUpperCase()} ; Charset="UTF-8"`;
        const accepted = await send(operation, { body, headers: { 'content-type': spelled } });
        expect(accepted.status).not.to.equal(415);
      });

      it('is not compressed: 415, before anything is inflated (S1)', async () => {
        for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity']) {
          const headers = { 'content-type': mediaType, 'content-encoding': encoding };
          const answer = await send(operation, { body: gzipSync('{}'), headers });
          expectError(operation, answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
        }
      });

      it('is required: 400', async () => {
        const answer = await send(operation, { body: undefined, headers: { 'content-type': mediaType } });
        if (OAUTH_OPERATIONS.includes(operation.id)) expectError(operation, answer, 400, '');
        else expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      });

      // OAuth endpoints must ignore unknown members, and accept only smaller bodies.
      if (mediaType !== 'application/json' || OAUTH_OPERATIONS.includes(operation.id)) return;

      it('is one JSON object: 400 for anything else, and for what parsers read differently (C16)', async () => {
        const headers = { 'content-type': mediaType };
        const malformed = [
          '{',
          '{"a":1,"a":2}',
          '\ufeff{}',
          '{"a":9007199254740993}',
          '{"a":"\\ud800"}',
          '{"a":1e999}',
        ];
        const deep = `${'['.repeat(33)}${']'.repeat(33)}`;
        for (const body of [...malformed, deep, Buffer.from([0x22, 0xff, 0x22]), '['.repeat(250_000)]) {
          const answer = await send(operation, { body, headers });
          expectError(operation, answer, 400, 'MALFORMED_BODY');
        }
        for (const body of ['[]', 'null', '"text"', '7']) {
          expectError(operation, await send(operation, { body, headers }), 400, 'VALIDATION_FAILED');
        }
      });

      it('has only members that the contract declares: 400 names any other (C3)', async () => {
        const { request } = requestOf(operation);
        const answer = await send(operation, { body: { ...(request.body as object), no_such_member: 1 } });
        expectError(operation, answer, 400, 'VALIDATION_FAILED');
        const named = answer.body.errors.filter(({ field }: { field: string }) => field === 'no_such_member');
        expect(named).to.have.length(1);
        expect(named[0].message).to.match(/^unknown field \(allowed: [a-z_, ]+\)$/);
      });
    });
  }

  it('refuses a body where the operation takes none', async () => {
    for (const operation of OPERATIONS.filter((candidate) => !mediaTypeOf(candidate))) {
      const answer = await send(operation, { body: { a: 1 } });
      expectError(operation, answer, 400, 'VALIDATION_FAILED');
    }
  });

  it('refuses an idempotency key that is empty, too long or not visible ASCII', async () => {
    const taking = OPERATIONS.filter((operation) =>
      parametersOf(contract, operation).some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(taking.length).to.be.greaterThan(5);
    for (const operation of taking) {
      for (const key of ['', 'two words', 'k'.repeat(256)]) {
        const answer = await send(operation, { headers: { 'idempotency-key': key } });
        expectError(operation, answer, 400, 'VALIDATION_FAILED');
        expect(answer.body.errors[0].field, operation.id).to.equal('idempotency-key');
      }
      const longest = await send(operation, { headers: { 'idempotency-key': 'k'.repeat(255) } });
      expect(longest.body.code, operation.id).not.to.equal('VALIDATION_FAILED');
    }
  });

  it('returns 404 for a path without an operation, and 405 with Allow for another method', async () => {
    const unknown = await server.call('GET', '/api/v1/nothing_here');
    expect(unknown.body).to.include({ status: 404, code: 'NOT_FOUND' });
    for (const path of Object.keys(objectAt(contract, 'paths'))) {
      const [operation] = OPERATIONS.filter((candidate) => candidate.path === path);
      const answer = await server.call('PATCH', requestOf(operation as Operation).path);
      expect(answer.body, path).to.include({ status: 405, code: 'METHOD_NOT_ALLOWED' });
      const declared = OPERATIONS.filter((candidate) => candidate.path === path).map(({ method }) =>
        method.toUpperCase(),
      );
      const methods = declared.includes('GET') ? [...declared, 'HEAD'] : declared;
      expect(String(answer.headers['allow']).split(', '), path).to.have.members(methods);
    }
  });
});

describe('errors of the token endpoint', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('have the shape and codes of RFC 6749 §5.2, also for requests that are refused before the operation', async () => {
    const form = (values: Record<string, string>) => ({
      body: new URLSearchParams(values).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      token: null,
    });
    const wrong = { grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: 'vks_wrong' };
    const cases: [Record<string, string>, number, string][] = [
      [wrong, 401, 'invalid_client'],
      [{ ...wrong, client_id: 'nobody' }, 401, 'invalid_client'],
      [{ ...wrong, grant_type: 'password' }, 400, 'unsupported_grant_type'],
      [{ client_id: CLIENT_ID, client_secret: 'x' }, 400, 'invalid_request'],
      [{ ...wrong, 'no[such]field': 'x' }, 400, 'invalid_request'],
    ];
    for (const [values, status, error] of cases) {
      const answer = await server.call('POST', '/oauth/token', form(values));
      expect(answer.status, JSON.stringify(values)).to.equal(status);
      expect(answer.body.error, JSON.stringify(values)).to.equal(error);
      expect(Object.keys(answer.body)).to.have.members(['error', 'error_description']);
      expect(answer.headers['cache-control']).to.equal('no-store');
    }
  });
});
