import { createEgress } from '../../core/net/egress.ts';
import { EgressPolicy } from '../../core/net/policy.ts';
import type { EnvironmentId } from '../../db/store.ts';
import { startProcess } from '../core/accounts/refresh-support.ts';

// One of several processes that refresh the same account. It is controlled by messages.

export interface ChildSetup {
  file: string;
  name: string;
  env: EnvironmentId;
  accountId: string;
  /** The address that the authorization server's address is replaced with. */
  override: { origin: string; target: string };
  /** The point at which the process kills itself, as `kill -9` does. */
  dies?: 'before the claim' | 'before the request' | 'before the commit' | 'after the commit';
}

/** The time in milliseconds UTC, and the number of concurrent callers. */
export interface ChildTask {
  at: number;
  callers: number;
}

/** The results of the callers. A generation identifies a token without showing it. */
export interface ChildReply {
  generations: number[];
  statuses: string[];
}

const setup = JSON.parse(process.argv[2] ?? '') as ChildSetup;
const { env, accountId, dies } = setup;
const egress = createEgress(new EgressPolicy({ allow: [], overrides: [setup.override] }));
const fetch = egress.pinnedFetch([setup.override.origin]);
let at = 0;
let writes = 0;

const plain = await startProcess({ file: setup.file, name: setup.name, now: () => at, options: {} }, fetch, { wait });
const { store, refresher } = await startProcess(
  { file: setup.file, name: setup.name, now: () => at, options: {} },
  async (url, init) => {
    if (dies === 'before the request') die();
    return fetch(url, init);
  },
  {
    wait,
    store: {
      ...plain.store,
      async write(unit) {
        writes++;
        if (dies === 'before the claim') die();
        if (dies === 'before the commit' && writes === 2) die();
        const result = await plain.store.write(unit);
        if (dies === 'after the commit' && writes === 2) die();
        return result;
      },
    },
  },
);

process.on('message', async (task: ChildTask) => {
  at = task.at;
  const cause = { environmentId: env, actor: 'cli_child', requestId: 'req_child' };
  const account = await store.read.accounts.get(env, accountId);
  if (!account) throw new Error('The account is gone');
  const all = await Promise.all(Array.from({ length: task.callers }, () => refresher.freshen(account, cause)));
  const answer: ChildReply = {
    generations: all.map((one) => one.credentialGeneration),
    statuses: all.map((one) => one.status),
  };
  process.send?.(answer);
});
process.send?.('ready');

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
