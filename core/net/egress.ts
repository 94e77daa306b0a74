import { type ByteAllowance, ByteBudget, type ByteHold } from '../budgets/byte-budget.ts';
import { BODIES } from '../budgets.ts';
import { programVersion } from '../program-version.ts';
import { Lanes } from '../scheduling/lanes.ts';
import { OriginBreaker } from './breaker.ts';
import { createConnector, type Dial } from './connect.ts';
import { ConnectionPool } from './connection-pool.ts';
import { EgressError } from './egress-error.ts';
import { createFetchLike, type FetchLike } from './fetch-like.ts';
import { DEFAULT_LIMITS, type EgressLimits } from './limits.ts';
import type { Resolver } from './lookups.ts';
import type { EgressPolicy } from './policy.ts';
import { createProtocol, type Protocol } from './protocol.ts';
import { createResolver } from './resolver.ts';
import { createSend, type EgressRequest, type EgressResponse } from './send.ts';
import { createStream, type EgressStream } from './stream.ts';
import { traced } from './traced.ts';

export type { EgressRequest, EgressResponse } from './send.ts';
export type { EgressStream } from './stream.ts';

export interface EgressOptions {
  resolver?: Resolver;
  limits?: Partial<EgressLimits>;
  /** PEM certificates of private authorities; only from the operator's configuration. */
  ca?: readonly string[];
  /** Replaces the opening of TCP connections in tests. */
  dial?: Dial;
  userAgent?: string;
  /** Milliseconds of a monotonic clock; only differences are used. */
  clock?: () => number;
  /** The environment's share of the memory for bodies. */
  bodies?: ByteAllowance;
}

/** The calls to one origin. */
export interface OriginState {
  origin: string;
  active: number;
  waiting: number;
  isPaused: boolean;
}

/** The result of checking an address without resolving it. API clients may see the reason. */
export type AddressCheck = { ok: true; url: URL } | { ok: false; reason: string };

/** The only access to third parties: the server makes all of its calls to them through this interface. */
export interface Egress {
  /** Sends one call, for example of a tool, on a pooled connection. */
  send(request: EgressRequest): Promise<EgressResponse>;
  /** Sends one call without following redirects, and returns the body of the response as a stream. */
  stream(request: EgressRequest): Promise<EgressStream>;
  /**
   * Protocol calls (such as token, discovery, revocation and identity), made with got: by default without redirects or
   * retries, with one connection per request.
   */
  protocol: Protocol;
  /** `protocol` with the interface of fetch, for libraries; it can reach any host that the policy permits. */
  fetchLike: FetchLike;
  /** `fetchLike` restricted to these origins; use it for every call that contains a credential. */
  pinnedFetch(allowedOrigins: readonly string[]): FetchLike;
  /** Returns a hold (a reservation of memory) for bodies that are kept after their call. Release it afterwards. */
  hold(): ByteHold;
  /** Checks whether the policy allows calls to an address, before the address is stored. Each call checks it again. */
  check(url: string | URL): AddressCheck;
  /**
   * Returns the number of running and waiting calls of `send` and `stream` to each origin, and whether calls to it are
   * paused. A stream only counts until its head has arrived.
   */
  state(): OriginState[];
  /**
   * Closes idle connections immediately, and the others when their calls have ended. Resolves when all are closed;
   * protocol calls are not awaited.
   */
  close(): Promise<void>;
}

/** Connects the parts of this module with one policy and one connector. */
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
    // Protocol calls have separate limits, so that hanging tool calls do not block token refreshes.
    protocol ??= createProtocol({ policy, connect, lanes: lanesOf(limits), limits, userAgent, bodies });
    return protocol;
  };

  const parts = { policy, pool, lanes: lanesOf(limits), breaker, limits, userAgent, bodies };
  return {
    send: traced(createSend(parts)),
    stream: traced(createStream(parts)),
    get protocol() {
      return protocolOf();
    },
    fetchLike: createFetchLike(protocolOf),
    pinnedFetch: (allowedOrigins) => createFetchLike(protocolOf, allowedOrigins),
    hold: () => bodies.hold(),
    check: (address) => checkAddress(policy, address),
    state() {
      const paused = new Set(breaker.open());
      const used = parts.lanes.state().map(({ name: origin, active, waiting }) => {
        return { origin, active, waiting, isPaused: paused.delete(origin) };
      });
      return [...used, ...[...paused].map((origin) => ({ origin, active: 0, waiting: 0, isPaused: true }))];
    },
    close: () => pool.close(),
  };
}

/** Slots for calls, by origin: a host that hangs only occupies its own slots (threat E11). */
function lanesOf({ callsPerOrigin: perLane, queuePerOrigin: limit }: EgressLimits): Lanes {
  const full = () => new EgressError('unreachable', 'Too many calls to this host are waiting. Try again later.');
  return new Lanes({ perLane, waiting: { limit, full } });
}

/** Checks whether a policy allows calls to an address. Nothing is resolved or sent. */
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
