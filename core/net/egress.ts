import { type ByteAllowance, ByteBudget, type ByteHold } from '../budgets/byte-budget.ts';
import { BODIES } from '../budgets.ts';
import { Lanes } from '../lanes.ts';
import { programVersion } from '../program-version.ts';
import { OriginBreaker } from './breaker.ts';
import { createConnector, type Dial } from './connect.ts';
import { ConnectionPool } from './connection-pool.ts';
import { EgressError } from './egress-error.ts';
import { createFetchLike, type FetchLike } from './fetch-like.ts';
import { DEFAULT_LIMITS, type EgressLimits } from './limits.ts';
import type { EgressPolicy } from './policy.ts';
import { createProtocol, type Protocol } from './protocol.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createSend, type EgressRequest, type EgressResponse } from './send.ts';
import { createStream, type EgressStream } from './stream.ts';

export type { EgressRequest, EgressResponse } from './send.ts';
export type { EgressStream } from './stream.ts';

export interface EgressOptions {
  resolver?: Resolver;
  limits?: Partial<EgressLimits>;
  /** PEM certificates of private authorities, from the operator's configuration alone. */
  ca?: readonly string[];
  /** Replaces the opening of TCP connections, in tests. */
  dial?: Dial;
  userAgent?: string;
  /** Milliseconds of a clock that never goes back; only differences count. */
  clock?: () => number;
  /** What bodies may take, of the budget of the process. */
  bodies?: ByteAllowance;
}

/** What a stored address is worth before anything is resolved. The reason is public. */
export type AddressCheck = { ok: true; url: URL } | { ok: false; reason: string };

/** The one way out: every byte that the server sends to another host goes through here. */
export interface Egress {
  /** Execution path: one call on a pooled connection. */
  send(request: EgressRequest): Promise<EgressResponse>;
  /** `send` without redirects, whose response body is streamed. */
  stream(request: EgressRequest): Promise<EgressStream>;
  /** Protocol calls (token, discovery, revocation, identity): got, with no redirects, no retries, one connection per call. */
  protocol: Protocol;
  /** `protocol` in the shape of fetch, for libraries that take one, to any host that the policy permits. */
  fetchLike: FetchLike;
  /** `fetchLike` that calls these origins only: for every call that carries a credential. */
  pinnedFetch(allowedOrigins: readonly string[]): FetchLike;
  /** Counts bodies that outlive the calls they belong to; to be released. */
  hold(): ByteHold;
  /** Says whether an address may be stored as one to call. Calls judge it again. */
  check(url: string | URL): AddressCheck;
  /** Lets the calls under way end, then closes every connection. */
  close(): Promise<void>;
}

/** Wires the parts of this module around one policy and one connector. */
export function createEgress(policy: EgressPolicy, options: EgressOptions = {}): Egress {
  const limits: EgressLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const userAgent = options.userAgent ?? `Valetkey/${programVersion()}`;
  const { ca, dial, clock = () => performance.now() } = options;
  const bodies = options.bodies ?? new ByteBudget(BODIES).of('');
  const resolver = options.resolver ?? createResolver({ clock });
  const connect = createConnector({ policy, resolver, ca, dial, connectTimeoutMs: limits.connectTimeoutMs });
  const breaker = new OriginBreaker(limits, clock);
  const pool = new ConnectionPool({ connect, ...limits });
  let protocol: Protocol | undefined;
  const protocolOf = () => {
    // With separate limits, so that hanging tool calls do not block token refreshes.
    protocol ??= createProtocol({ policy, connect, lanes: lanesOf(limits), limits, userAgent, bodies });
    return protocol;
  };

  const parts = { policy, pool, lanes: lanesOf(limits), breaker, limits, userAgent, bodies };
  return {
    send: createSend(parts),
    stream: createStream(parts),
    get protocol() {
      return protocolOf();
    },
    fetchLike: createFetchLike(protocolOf),
    pinnedFetch: (allowedOrigins) => createFetchLike(protocolOf, allowedOrigins),
    hold: () => bodies.hold(),
    check: (address) => checkAddress(policy, address),
    close: () => pool.close(),
  };
}

/** Places for calls, by origin: a host that hangs takes its own places alone (threat E11). */
function lanesOf({ callsPerOrigin: perLane, queuePerOrigin: waiting }: EgressLimits): Lanes {
  const full = () => new EgressError('unreachable', 'Too many calls to this host are already waiting.');
  return new Lanes({ perLane, waiting, full });
}

/** Says whether an address may be stored as one to call, as a policy has it; nothing is resolved or sent. */
export function checkAddress(policy: EgressPolicy, address: string | URL): AddressCheck {
  const url = URL.parse(String(address));
  if (url === null) return { ok: false, reason: 'The address is not a URL.' };
  try {
    policy.route(url);
    return { ok: true, url };
  } catch (error) {
    if (error instanceof EgressError) return { ok: false, reason: error.message };
    throw error;
  }
}
