import { expect } from 'chai';
import type { Egress } from '../../core/net/egress.ts';
import { createEgress } from '../../core/net/egress.ts';
import { EgressPolicy } from '../../core/net/policy.ts';
import { parseEndpointOverrides } from '../../core/net/policy-settings.ts';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const HUNG = 500;
const OTHERS = 200;

/** The tests count calls instead of measuring time, because they only check that calls to other providers are sent. */
describe('a provider that hangs (E11)', () => {
  let dead: Upstream;
  let lively: Upstream;
  let server: TestServer;
  let egress: Egress;
  let deadAccount: string;
  let livelyAccount: string;

  before(async () => {
    dead = await startUpstream(() => {});
    lively = await startUpstream((_request, res) => json(res, 200, { ok: true }));
    const overrides = [dead.endpointOverride(KEYED_ORIGIN), lively.endpointOverride('https://api.github.com')].join(
      ',',
    );
    const policy = new EgressPolicy({ allow: [], overrides: parseEndpointOverrides(overrides) });
    egress = createEgress(policy, { limits: { timeoutMs: 60_000 }, clock: () => 0 });
    server = await startTestServer({ overrides: { egressOf: () => egress } });
    deadAccount = (await createKeyedAccount(server)).id;
    livelyAccount = (await createAccount(server)).id;
  });
  after(async () => {
    await dead.stop();
    await server.stop();
    await egress.close();
    await lively.stop();
  });

  const callDead = () => execute(server, deadAccount, 'http_get', { path: '/x' });
  const callLively = () => execute(server, livelyAccount, 'github_get_authenticated_user');

  it('uses only its own slots: all calls to others complete while it hangs, and later calls to it are rejected immediately', async () => {
    let answered = 0;
    const hanging = Array.from({ length: HUNG }, () =>
      callDead().then((answer) => {
        answered++;
        return answer;
      }),
    );
    // Calls for which there is neither a slot nor a place in the queue fail immediately; the others hang.
    const turnedAway = (answers: number) => answers >= HUNG - 64 - 256;
    while (!turnedAway(answered) || dead.requests.length < 64) await new Promise((resolve) => setImmediate(resolve));
    const before = answered;

    const others: TestResponse[] = [];
    for (let count = 0; count < OTHERS; count += 20) {
      others.push(...(await Promise.all(Array.from({ length: 20 }, callLively))));
    }
    expect(others.filter(({ status }) => status === 200)).to.have.length(OTHERS);
    expect(lively.requests).to.have.length(OTHERS);
    expect(answered).to.equal(before);
    expect(dead.requests).to.have.length(64);

    // This breaks all connections to the provider. The server then knows that the provider is unreachable, so the
    // waiting calls fail without a new connection.
    await dead.stop();
    const ends = await Promise.all(hanging);
    expect([...new Set(ends.map(({ status }) => status))]).to.deep.equal([502]);
    const connections = dead.connections;
    const refused = await callDead();
    expect(refused.body.tool_error).to.include({ kind: 'upstream_unreachable', retryable: true });
    expect(refused.body.tool_error.retry_after_ms).to.be.greaterThan(0);
    expect(dead.connections).to.equal(connections);
    expect((await callLively()).status).to.equal(200);
  });
});
