import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { testClock } from '../support/clock.ts';
import { type FaultSwitch, failingStore, recordingStore } from '../support/failing-store.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

describe('a replaced store', () => {
  const clock = testClock();
  const calls: string[] = [];
  const fault: FaultSwitch = { place: undefined, error: () => new Error('the wrapped store refuses') };
  let server: TestServer;

  before(async () => {
    server = await startTestServer({
      overrides: {
        now: clock.now,
        store: wrap((store) => recordingStore(failingStore(store, fault), (call) => void calls.push(call))),
      },
    });
  });
  beforeEach(() => {
    calls.length = 0;
  });
  afterEach(() => {
    fault.place = undefined;
  });
  after(() => server.stop());

  async function storedAccount() {
    const { id } = await createAccount(server, {
      connectedAccount: {
        authorization_details: {
          oauth_token: { access_token: 'at', refresh_token: 'rt' },
        },
      },
    });
    const { environmentOf, store } = server.parts;
    const environment = await environmentOf('localhost');
    const account = await store.read.accounts.get(environment.id, id);
    if (!account) throw new Error('the account was not stored');
    return { account, cause: { environmentId: environment.id, actor: 'test', requestId: 'req_test' } };
  }

  it('is used by handlers', async () => {
    await server.call('GET', '/api/v1/executions');
    expect(calls).to.include('executions.list');
  });

  it('is used by the refresher, which fails with it', async () => {
    const { account, cause } = await storedAccount();
    calls.length = 0;
    await server.parts.refreshNow(account, cause);
    expect(calls).to.include('refreshLeases.get');
    fault.place = 'read';
    const failed = await server.parts.refreshNow(account, cause).catch((error) => error);
    expect(failed).to.have.property('message', 'the wrapped store refuses');
  });

  it('is used by the expiry of links, which fails with it', async () => {
    await server.parts.links.expire();
    expect(calls).to.include('authRequests.due');
    fault.place = 'read';
    const failed = await server.parts.links.expire().catch((error) => error);
    expect(failed).to.have.property('message', 'the wrapped store refuses');
  });

  it('is used by the periodic jobs, such as keep-alive', async () => {
    await server.parts.jobs.runDue();
    calls.length = 0;
    clock.advance(24 * 60 * 60 * 1_000);
    await server.parts.jobs.runDue();
    expect(calls).to.include.members(['periodicJobs.list', 'accounts.listIdle', 'authRequests.due']);
  });
});
