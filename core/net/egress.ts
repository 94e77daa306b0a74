import type { Agent } from 'undici';
import { OriginBreaker } from './breaker.ts';
import { createConnector, type Dial } from './connect.ts';
import { EgressError } from './egress-error.ts';
import { createFetchLike, type FetchLike } from './fetch-like.ts';
import { OriginGate } from './gate.ts';
import { DEFAULT_LIMITS, type EgressLimits } from './limits.ts';
import { loadUndici } from './packages.ts';
import type { EgressPolicy } from './policy.ts';
import { createProtocol, type Protocol } from './protocol.ts';
import { type Resolver, systemResolver } from './resolver.ts';
import { createSend, type EgressRequest, type EgressResponse } from './send.ts';
import { createStream, type EgressStream } from './stream.ts';
import { bracketed, targetOf } from './target.ts';

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
}

/** What a stored address is worth before anything is resolved. The reason is public. */
export type AddressCheck = { ok: true; url: URL } | { ok: false; reason: string };

/** The one way out: every byte that the server sends to another host goes through here. */
export interface Egress {
  /** Execution path: one call on a pooled connection. */
  send(request: EgressRequest): Promise<EgressResponse>;
  /** `send` without redirects, whose answer is handed on as it arrives. */
  stream(request: EgressRequest): Promise<EgressStream>;
  /** Protocol calls (token, discovery, revocation, identity): got, with no redirects, no retries, one connection per call. */
  protocol: Protocol;
  /** `protocol` in the shape of fetch, for libraries that take one, to any host that the policy permits. */
  fetchLike: FetchLike;
  /** `fetchLike` that calls these origins only: for every call that carries a credential. */
  pinnedFetch(allowedOrigins: readonly string[]): FetchLike;
  /** Says whether an address may be stored as one to call. Calls judge it again. */
  check(url: string | URL): AddressCheck;
  /** Lets the calls under way end, then closes every connection. */
  close(): Promise<void>;
}

/** Wires the parts of the room around one policy and one connector. */
export function createEgress(policy: EgressPolicy, options: EgressOptions = {}): Egress {
  const limits: EgressLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const userAgent = options.userAgent ?? 'Valetkey';
  const { resolver = systemResolver, ca, dial } = options;
  const connect = createConnector({ policy, resolver, ca, dial, connectTimeoutMs: limits.connectTimeoutMs });
  const gate = new OriginGate(limits.callsPerOrigin, limits.queuePerOrigin);
  const breaker = new OriginBreaker(limits, options.clock ?? (() => performance.now()));
  let agent: Agent | undefined;
  let protocol: Protocol | undefined;
  let closed = false;
  const openAgent = () => {
    const { Agent } = loadUndici();
    return new Agent({
      connect: ({ protocol: scheme, hostname, port }, callback) => {
        const target = targetOf(new URL(`${scheme}//${bracketed(hostname)}:${port}`));
        connect(target).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
      connections: limits.callsPerOrigin,
      pipelining: 1,
      maxHeaderSize: limits.maxHeaderBytes,
      // The limits of a call are kept by the call: these two could only end it with another error.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  };
  const agentOf = () => {
    if (agent === undefined) {
      agent = openAgent();
      if (closed) void agent.close();
    }
    return agent;
  };
  const protocolOf = () => {
    protocol ??= createProtocol({ policy, connect, gate, limits, userAgent });
    return protocol;
  };

  const parts = { policy, agentOf, gate, breaker, limits, userAgent };
  return {
    send: createSend(parts),
    stream: createStream(parts),
    get protocol() {
      return protocolOf();
    },
    fetchLike: createFetchLike(protocolOf),
    pinnedFetch: (allowedOrigins) => createFetchLike(protocolOf, allowedOrigins),
    check: (address) => checkAddress(policy, address),
    close: async () => {
      closed = true;
      if (agent?.closed === false) await agent.close();
    },
  };
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
