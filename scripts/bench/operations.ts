import { type BenchRequest, DIRECT, executeTool, type McpSubject, mcpCall2025, mcpCall2026, rawCall } from './calls.ts';

/** The data that requests are built from: the seeded accounts and an API client. */
export interface Subjects extends McpSubject {
  accountIds: readonly string[];
  clientId: string;
  clientSecret: string;
  /** Returns a number that no other request of the run uses. */
  next(): number;
}

/** A server that an operation is compared with, and the prefix of the request's path there, if it has one. */
export interface Counterpart {
  label: string;
  server: 'ceiling' | 'upstream';
  prefix?: string;
}

export interface Operation {
  name: string;
  connections: number;
  /** Milliseconds that a connection waits before its next request; by default none. */
  pauseMs?: number;
  status: number;
  request(subjects: Subjects): BenchRequest;
  /** The servers to compare with. The goal refers to the first one. */
  counterparts: readonly Counterpart[];
  /** The counterpart's request, if it differs from the server's. */
  direct?: BenchRequest;
  goal: string;
}

const CEILING: Counterpart = { label: 'ceiling', server: 'ceiling' };
const NO_AUDIT: Counterpart = { label: 'ceiling without audit row', server: 'ceiling', prefix: '/without-audit' };
const GROUPED: Counterpart = { label: 'the same rows in grouped commits', server: 'ceiling', prefix: '/grouped' };
const ONE_COMMIT: Counterpart = { label: 'one durable commit per request', server: 'ceiling' };
const UPSTREAM: Counterpart = { label: 'direct call', server: 'upstream' };

const ACCOUNTS = '/api/v1/connected_accounts';

/** The host whose calls the server sends to the local upstream. */
export const UPSTREAM_ORIGIN = 'https://api.github.com';

/** A call to the provider. Its duration is compared with that of the same call without the server. */
const CALL: Pick<Operation, 'connections' | 'status' | 'counterparts' | 'direct'> = {
  connections: 10,
  status: 200,
  counterparts: [UPSTREAM],
  direct: DIRECT,
};
const EXECUTE = { ...CALL, request: (subjects: Subjects) => executeTool(anyAccount(subjects)) };

/**
 * The measured operations. They are compared by requests per second; calls to a provider are compared by the time
 * that the server adds.
 */
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
    // The search finds at most ten accounts, because it contains three of the four digits of their number.
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
    counterparts: [ONE_COMMIT, GROUPED],
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
  // The latency for agents, which pause between calls. Ten connections without pauses would mostly wait for each other.
  { ...EXECUTE, name: 'execute-tool-paced', pauseMs: 20, goal: '' },
  { ...CALL, name: 'proxy', request: (subjects) => rawCall(anyAccount(subjects)), goal: '' },
  { ...CALL, name: 'mcp-2026', request: mcpCall2026, goal: '' },
  { ...CALL, name: 'mcp-2025', request: mcpCall2025, goal: '' },
];

/** Returns an account in the format of `createConnectedAccount`. */
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

/**
 * Returns an account. Successive calls return the accounts in a fixed order, so that every server receives the same
 * accounts. Consecutive accounts are far from each other, because neighbours would be in a cache.
 */
function anyAccount({ accountIds, next }: Subjects): string {
  return accountIds[(next() * 7919) % accountIds.length] as string;
}
