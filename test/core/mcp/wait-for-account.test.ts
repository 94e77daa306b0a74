import { expect } from 'chai';
import type { McpSession } from '../../../core/mcp/session.ts';
import { type WaitDeps, waitForAccount } from '../../../core/mcp/wait-for-account.ts';

const KEY = { connector: 'github', identifier: 'ada', organizationId: undefined, userId: 'ada' };
const never = new Promise<never>(() => {});

/** Ports with one account that waits for its user; `reads` counts how often its status is read. */
function waiting() {
  let reads = 0;
  const account = { id: 'ca_1', status: 'PENDING' };
  const read = {
    connections: { byKeyId: async () => ({ id: 'conn_1' }) },
    accounts: {
      byKey: async () => [account],
      get: async () => {
        reads++;
        return account;
      },
    },
  };
  const accountChanges = { next: () => ({ change: never, cancel: () => undefined }) };
  const deps = { store: { read }, accountChanges, wait: () => never } as unknown as WaitDeps;
  return { deps, reads: () => reads };
}

const session = { environment: { id: 'env_1' } } as McpSession;

describe('waiting for the user of an account', () => {
  it('ends when the caller cancels the call', async () => {
    const { deps, reads } = waiting();
    const caller = new AbortController();
    const ended = waitForAccount(deps, session, KEY, caller.signal);
    while (reads() === 0) await Promise.resolve();
    caller.abort();
    await ended;
  });

  it('ends immediately if the caller cancelled the call before the wait begins', async () => {
    const { deps, reads } = waiting();
    await waitForAccount(deps, session, KEY, AbortSignal.abort());
    expect(reads()).to.equal(0);
  });
});
