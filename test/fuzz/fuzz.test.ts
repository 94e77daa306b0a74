import { expect } from 'chai';
import { operationsOf } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { createAccount } from '../support/accounts.ts';
import { amount } from '../support/amount.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { Random } from './random.ts';
import type { KnownValues } from './requests.ts';
import { fuzzRequest } from './requests.ts';

const REQUESTS = amount(process.env['FUZZ_REQUESTS'], 2000);
const SEED = amount(process.env['FUZZ_SEED'], Date.now() % 1_000_000, 0);
const AT_ONCE = 8;

/** These operations would revoke the access of the client that the run uses. */
const LEFT_OUT = new Set(['disableApiClient', 'rotateApiClientSecret']);

describe(`Fuzzing by the contract (seed ${SEED}, ${REQUESTS} requests)`, () => {
  let server: TestServer;

  before(async () => {
    // Replaces the fixed addresses of connectors with one at which nothing listens, so that calls do not leave the
    // machine.
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: await deadEnds() } });
  });
  after(() => server.stop());

  it('returns no 5xx and no undeclared response, and the service keeps working', async function () {
    this.timeout(600_000 + REQUESTS * 30);
    const random = new Random(SEED);
    const operations = operationsOf(contract).filter(({ id }) => !LEFT_OUT.has(id));
    const known = await knownValues(server);
    const broken: string[] = [];
    let sent = 0;
    let succeeded = 0;
    const worker = async () => {
      while (sent < REQUESTS && broken.length < 5) {
        sent += 1;
        const operation = random.pick(operations);
        const { method, path, request } = fuzzRequest(operation, known, random);
        const answer = await server.call(method, path, request).catch((error: Error) => error);
        const fault = faultIn(answer);
        if (!(answer instanceof Error) && answer.status < 300) succeeded += 1;
        if (fault) broken.push(`${operation.id}: ${method} ${path} ${shown(request)}\n    ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(broken, `seed ${SEED}\n  ${broken.join('\n  ')}`).to.deep.equal([]);
    // The run proves nothing if nearly all requests are rejected by validation.
    expect(succeeded / REQUESTS, 'share of requests that succeeded').to.be.greaterThan(0.05);
    expect((await server.call('GET', '/readyz')).status).to.equal(200);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
});

/**
 * Returns why a response is a fault of the server: it has a status from 500 on that is not a declared failure of the
 * provider, or the connection broke. Returns null for any other response, and if the client rejected the request as
 * invalid before it sent it.
 */
function faultIn(answer: TestResponse | Error): string | null {
  if (answer instanceof Error) return /Invalid|invalid|UND_ERR_INVALID/.test(answer.message) ? null : String(answer);
  if (answer.status < 500) return null;
  const isOutcome =
    (answer.status === 502 || answer.status === 504) && typeof answer.body?.tool_error?.kind === 'string';
  return isOutcome ? null : `${answer.status} ${answer.text.slice(0, 300)}`;
}

function shown(request: unknown): string {
  return JSON.stringify(request)?.slice(0, 600) ?? '';
}

async function deadEnds(): Promise<string> {
  const { default: catalogue } = await import('../../generated/catalogue.json', { with: { type: 'json' } });
  const origins = Object.values(catalogue.connectors).flatMap(({ api }) =>
    'base_url' in api ? [new URL(api.base_url).origin] : [],
  );
  return [...new Set(origins)].map((origin) => `${origin}=http://127.0.0.1:9`).join(',');
}

/** Creates things and returns their ids, so that requests name existing things. */
async function knownValues(server: TestServer): Promise<KnownValues> {
  const accounts = await Promise.all(
    ['a', 'b', 'c'].map((name) => createAccount(server, { identifier: `fuzz-${name}`, userId: 'fuzz' })),
  );
  const connection = await server.call('POST', '/api/v1/connections', {
    body: { connector: 'slack', key_id: 'fuzz slack' },
  });
  const provider = await server.call('POST', '/api/v1/custom-providers', {
    body: {
      display_name: 'Fuzz',
      auth_patterns: [{ type: 'NO_AUTH' }],
      proxy_url: 'https://fuzz.example',
      proxy_enabled: true,
    },
  });
  const ids = accounts.map((account) => account.id);
  return {
    id: ids,
    connected_account_id: ids,
    connection_id: [connection.body.connection.id, accounts[0]?.['connection_id'] ?? ''],
    identifier: ['fuzz-a', 'fuzz-b', provider.body.provider.identifier, 'github'],
    connector: ['github', 'slack', 'fuzz slack', 'http', provider.body.provider.identifier],
    user_id: ['fuzz'],
    tool_name: ['github_list_issues', 'http_get', 'slack_list_channels', 'stripe_list_customers'],
    query: ['fuzz', 'git'],
    page_size: ['1', '100'],
    client_id: ['nobody'],
  };
}
