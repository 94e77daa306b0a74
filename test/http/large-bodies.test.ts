import { expect } from 'chai';
import { PROBLEM, REQUEST_BODY } from '../../core/budgets.ts';
import type { Job } from '../../core/threads/job.ts';
import { jsonJob } from '../../http/body/json-job.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { bodiesOf, operationsOf } from '../../scripts/openapi-document.ts';
import { wrap } from '../../wiring/overrides.ts';
import { contract } from '../contract/contract.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const IMPORT = '/api/v1/tools:import';
/** Far more characters than any normal error response. */
const MAX_RESPONSE_CHARS = 20_000;

const listOf = (count: number, item = '0') => `[${Array.from({ length: count }, () => item).join(',')}]`;
const objectOf = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',')}}`;

describe('large request bodies (H4)', () => {
  let server: TestServer;
  const jobs: unknown[] = [];

  const send = (method: string, path: string, body: string) =>
    server.call(method, path, { body, headers: { 'content-type': 'application/json' } });
  const isAlive = async () => (await server.call('GET', '/healthz', { token: null })).status === 200;

  before(async () => {
    server = await startTestServer({
      overrides: {
        threads: wrap((threads) => ({
          ...threads,
          short: {
            ...threads.short,
            run: (job, input, cost) => {
              jobs.push(job);
              return threads.short.run(job, input, cost);
            },
          },
        })),
      },
    });
  });
  after(() => server.stop());
  beforeEach(() => {
    jobs.length = 0;
  });

  it('H4: rejects 15.8 MB of zeros by their number, and the process continues', async () => {
    const answer = await send('POST', IMPORT, `{"connector":"a","files":${listOf(7_900_000)}}`);
    expect(answer.body).to.include({ status: 400, code: 'MALFORMED_BODY' });
    expect(answer.body.detail).to.equal('The body has more than 200000 values.');
    expect(await isAlive()).to.equal(true);
  });

  it('H4: parses bodies larger than ordinary ones in a thread, and no others', async () => {
    const padded = (size: number) => `{"connector":"a","files":[],"display_name":"${'x'.repeat(size)}"}`;
    const small = await send('POST', IMPORT, padded(1000));
    expect([small.body.code, jobs]).to.deep.equal(['VALIDATION_FAILED', []]);
    const large = await send('POST', IMPORT, padded(REQUEST_BODY.threadBytes));
    expect([large.body.code, jobs]).to.deep.equal(['VALIDATION_FAILED', [jsonJob as Job<unknown, unknown>]]);
    const broken = await send('POST', IMPORT, `${padded(REQUEST_BODY.threadBytes)}}`);
    expect(broken.body).to.include({ status: 400, code: 'MALFORMED_BODY', detail: 'The body is not valid JSON.' });
  });

  it('H4: distinguishes repeated large bodies from changed ones', async () => {
    const document = (title: string) =>
      JSON.stringify({
        openapi: '3.0.3',
        info: { title, version: '1', description: 'x'.repeat(REQUEST_BODY.threadBytes) },
        servers: [{ url: 'https://api.acme.example/v1' }],
        paths: { '/customers': { get: { operationId: 'listCustomers', summary: 'List customers' } } },
      });
    const request = (title: string) =>
      server.call('POST', IMPORT, {
        body: { connector: 'acme-large', files: [{ name: 'openapi.json', content: document(title) }] },
        headers: { 'idempotency-key': 'large' },
      });
    const first = await request('Acme');
    expect([first.status, first.headers['idempotency-replayed']], first.text).to.deep.equal([200, undefined]);
    expect((await request('Acme')).headers['idempotency-replayed']).to.equal('true');
    expect((await request('Acne')).body.code).to.equal('IDEMPOTENCY_KEY_REUSED');
  });

  it('L3: reports 199,000 files and 110,000 scopes as too many, with one error each', async () => {
    for (const [path, body, field, limit] of [
      [IMPORT, `{"connector":"a","files":${listOf(199_000)}}`, 'files', 500],
      ['/api/v1/api_clients', `{"name":"a","scopes":${listOf(110_000)}}`, 'scopes', 20],
    ] as const) {
      const answer = await send('POST', path, body);
      expect(answer.body, answer.text.slice(0, 200)).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.errors).to.deep.equal([{ field, message: `must NOT have more than ${limit} items` }]);
    }
    const few = await send('POST', '/api/v1/api_clients', '{"name":7,"scopes":[0,1]}');
    expect(few.body.errors.length, 'all errors of a small body').to.be.above(1);
  });

  it('L6: rejects 100 unknown static details with 20 errors, and more of them by their number', async () => {
    const account = (details: string) =>
      `{"connector":"http","user_id":"u","identifier":"i","connected_account":{"authorization_details":{"static_auth":{"details":${details}}}}}`;
    const some = await send('POST', '/api/v1/connected_accounts', account(objectOf(100)));
    expect(some.body).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
    expect(some.body.errors).to.have.length(PROBLEM.errors);
    const many = await send('POST', '/api/v1/connected_accounts', account(objectOf(20_000)));
    expect(many.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    expect(many.body.errors).to.have.length(1);
  });

  it('L6: truncates values that an error quotes', async () => {
    const name = 'n'.repeat(200_000);
    const answer = await send('POST', '/api/v1/api_clients', `{"name":"a","scopes":["admin"],"${name}":1}`);
    expect(answer.body.errors[0].field).to.match(/^n+…$/).and.to.have.length(PROBLEM.fieldChars);
    expect(answer.text.length).to.be.below(MAX_RESPONSE_CHARS);
  });

  for (const operation of operationsOf(contract)) {
    const takesJson = bodiesOf(contract, operation).some(
      ({ side, mediaType }) => side === 'request' && mediaType === 'application/json',
    );
    if (!takesJson) continue;
    it(`H4: ${operation.id} rejects any large body with a small response`, async () => {
      const path = operation.path.replace(/\{.*?\}/g, 'x');
      for (const body of [objectOf(20_000), listOf(100_000), membersOf(operation.definition)]) {
        const answer = await send(operation.method.toUpperCase(), path, body);
        expect(answer.status, answer.text.slice(0, 500)).to.be.within(400, 499);
        expect(answer.text.length).to.be.below(MAX_RESPONSE_CHARS);
      }
    });
  }
});

/** Returns a body with every member of the operation, each of which is a long list of objects. */
function membersOf(definition: JsonObject): string {
  const text = JSON.stringify(definition['requestBody']);
  const [, name = ''] = /schemas\/(\w+)/.exec(text) ?? [];
  const { schemas } = contract['components'] as {
    schemas: Record<string, { properties?: object; oneOf?: { $ref: string }[] }>;
  };
  const [branch] = schemas[name]?.oneOf ?? [];
  const schema = branch ? schemas[branch.$ref.split('/').at(-1) as string] : schemas[name];
  const members = Object.keys(schema?.properties ?? {});
  const list = listOf(Math.floor(20_000 / members.length), '{"a":0}');
  return `{${members.map((member) => `"${member}":${list}`).join(',')}}`;
}
