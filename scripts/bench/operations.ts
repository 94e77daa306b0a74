/** One request, ready to be sent. */
export interface BenchRequest {
  method: 'GET' | 'POST';
  path: string;
  type?: string;
  body?: string;
  /** Sent with an access token unless this says so. */
  anonymous?: boolean;
}

/** What requests are made of: the accounts that were seeded, and an API client. */
export interface Subjects {
  accountIds: readonly string[];
  clientId: string;
  clientSecret: string;
  /** A number that no other request of the run has had. */
  next(): number;
}

/** What an operation is compared with: another server that takes the same request, or the same with a prefix to its path. */
export interface Counterpart {
  label: string;
  server: 'ceiling' | 'upstream';
  prefix?: string;
}

export interface Operation {
  name: string;
  connections: number;
  /** Milliseconds that a connection waits before its next request; none when left out. */
  pauseMs?: number;
  status: number;
  request(subjects: Subjects): BenchRequest;
  /** The first one is what the goal speaks of. */
  counterparts: readonly Counterpart[];
  /** Where the counterpart takes another request than the server. */
  direct?: BenchRequest;
  goal: string;
}

const CEILING: Counterpart = { label: 'ceiling', server: 'ceiling' };
const NO_AUDIT: Counterpart = { label: 'ceiling without audit row', server: 'ceiling', prefix: '/without-audit' };
const ONE_COMMIT: Counterpart = { label: 'one durable commit per request', server: 'ceiling' };
const UPSTREAM: Counterpart = { label: 'direct call', server: 'upstream' };

const ACCOUNTS = '/api/v1/connected_accounts';

/** The host whose calls the server is told to send to the local upstream. */
export const UPSTREAM_ORIGIN = 'https://api.github.com';

const EXECUTE: Pick<Operation, 'connections' | 'status' | 'request' | 'counterparts' | 'direct'> = {
  connections: 10,
  status: 200,
  request: (subjects) => ({
    method: 'POST',
    path: '/api/v1/execute_tool',
    type: 'application/json',
    body: JSON.stringify({
      tool_name: 'github_get_issue',
      tool_input: { owner: 'octocat', repo: 'hello-world', issue_number: 42 },
      connected_account_id: anyAccount(subjects),
    }),
  }),
  counterparts: [UPSTREAM],
  direct: { method: 'GET', path: '/repos/octocat/hello-world/issues/42' },
};

/** Requests per second of each; `execute-tool` is judged by the time that it adds. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'get-auth',
    connections: 32,
    status: 200,
    request: (subjects) => ({ method: 'GET', path: `${ACCOUNTS}/auth?id=${anyAccount(subjects)}` }),
    counterparts: [CEILING, NO_AUDIT],
    goal: '>= 0.6',
  },
  {
    name: 'get-details',
    connections: 32,
    status: 200,
    request: (subjects) => ({ method: 'GET', path: `${ACCOUNTS}/details?id=${anyAccount(subjects)}` }),
    counterparts: [CEILING],
    goal: '>= 0.6',
  },
  {
    name: 'list',
    connections: 32,
    status: 200,
    request: () => ({ method: 'GET', path: `${ACCOUNTS}?page_size=20` }),
    counterparts: [CEILING],
    goal: '>= 0.5',
  },
  {
    name: 'search',
    connections: 32,
    status: 200,
    // Finds at most ten accounts: the first three of four digits of their number.
    request: ({ next }) => ({
      method: 'GET',
      path: `${ACCOUNTS}:search?query=user-${String(next() % 1000).padStart(3, '0')}`,
    }),
    counterparts: [CEILING],
    goal: '',
  },
  {
    name: 'create',
    connections: 32,
    status: 201,
    request: ({ next }) => ({
      method: 'POST',
      path: ACCOUNTS,
      type: 'application/json',
      body: JSON.stringify(newAccount(`new-${next()}@example.com`)),
    }),
    counterparts: [ONE_COMMIT],
    goal: '>= 2.3',
  },
  {
    name: 'token',
    connections: 32,
    status: 200,
    request: ({ clientId, clientSecret }) => ({
      method: 'POST',
      path: '/oauth/token',
      type: 'application/x-www-form-urlencoded',
      anonymous: true,
      body: `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`,
    }),
    counterparts: [CEILING],
    goal: '',
  },
  { ...EXECUTE, name: 'execute-tool', goal: '<= 1.5 ms p50, <= 5 ms p99 added' },
  // The latency that agents see, which pause between calls: ten connections that never pause mostly wait for one another.
  { ...EXECUTE, name: 'execute-tool-paced', pauseMs: 20, goal: '' },
];

/** An account as `createConnectedAccount` takes it. */
export function newAccount(identifier: string) {
  return {
    connector: 'github',
    identifier,
    organization_id: 'org-1',
    user_id: `owner-${identifier}`,
    connected_account: {
      api_config: { region: 'eu', labels: { team: 'support' } },
      authorization_details: { static_auth: { details: { token: `ghp_${'x'.repeat(36)}` } } },
    },
  };
}

/** Not at random, so that every server is asked for the same accounts; the step leaves no neighbour in a cache. */
function anyAccount({ accountIds, next }: Subjects): string {
  return accountIds[(next() * 7919) % accountIds.length] as string;
}
