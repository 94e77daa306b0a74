import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MCP_UPSTREAM } from '../../budgets.ts';
import type { PlacedPart } from '../../connectors/credential.ts';
import { type Deadline, startDeadline } from '../../scheduling/timers.ts';
import { askUpstream, type UpstreamRequest } from './ask.ts';
import { connectUpstream, type UpstreamConnection } from './connect.ts';
import type { MessageReaders } from './message-reader.ts';
import type { UpstreamResults } from './results.ts';
import type { WireDeps } from './wire.ts';
import type { WireCall } from './wire-call.ts';
import { StatusError } from './wire-errors.ts';

/** The address that a request is sent to, and the account that it is sent for. */
export interface UpstreamPlace extends Pick<WireDeps, 'stream' | 'hold' | 'sendTraceContext'> {
  environmentId: string;
  accountId: string;
  url: URL;
  credential: readonly PlacedPart[];
  /** The secrets that are removed from results. */
  secrets: readonly string[];
}

export interface UpstreamSessions {
  /**
   * Sends an MCP request in the session of an account, and opens a session if there is none. If the server no longer
   * knows an earlier session, a new session is opened and the request is sent again, once.
   *
   * @returns the result without secrets
   * @throws errors that `upstreamFailure` interprets
   */
  request<M extends keyof UpstreamResults>(
    place: UpstreamPlace,
    request: UpstreamRequest<M>,
  ): Promise<UpstreamResults[M]>;
  /** Discards the session of an account whose credential may have changed. Running requests continue. */
  forget(accountId: string): void;
  /** Closes the sessions that were not used for `idleSessionMs`. */
  sweep(): void;
  close(): Promise<void>;
}

export interface SessionDeps {
  /** Milliseconds UTC. */
  now(): number;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  messageReaders: MessageReaders;
  timer?: Deadline;
}

interface Session {
  /** A text that differs if the address, the credential or `sendTraceContext` differs. */
  fingerprint: string;
  connecting: WireCall;
  connection: Promise<UpstreamConnection>;
  requests: number;
  /**
   * Whether the session takes no more requests, and how it is closed. `told`: its server is asked to delete it.
   * `silently`: nothing is sent to its server.
   */
  retired: false | 'told' | 'silently';
}

/**
 * Keeps at most one session per account for further requests, because opening one can take a server more than a second.
 * A session uses one address and one credential; a request with another address or credential opens a new session.
 * Beyond the maximum number of sessions, the least recently used one is closed.
 */
export function createUpstreamSessions(deps: SessionDeps): UpstreamSessions {
  const { now, wait, messageReaders, timer = startDeadline } = deps;
  const sessions = new LRUCache<string, Session>({
    max: MCP_UPSTREAM.sessions,
    ttl: MCP_UPSTREAM.idleSessionMs,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now },
    disposeAfter: (session) => retire(session, 'told'),
  });

  function open(place: UpstreamPlace): { session: Session; isKept: boolean } {
    const fingerprint = fingerprintOf(place);
    const kept = sessions.get(place.accountId);
    if (kept?.fingerprint === fingerprint) return { session: kept, isKept: true };
    // The server is not asked to delete the old session, because the session's address or credential is outdated.
    if (kept) kept.retired ||= 'silently';
    const secrets = [...place.secrets];
    const readMessage = messageReaders(place.environmentId, secrets);
    const end = new AbortController();
    const connecting = {
      key: '',
      signal: end.signal,
      silenceMs: MCP_UPSTREAM.requestMs,
      bytes: MCP_UPSTREAM.responseBytes,
    };
    const connection = connectUpstream(place.url, { ...place, secrets, readMessage, wait }, connecting);
    const session: Session = { fingerprint, connecting, connection, requests: 0, retired: false };
    sessions.set(place.accountId, session);
    return { session, isKept: false };
  }

  function retire(session: Session, how: 'told' | 'silently'): void {
    session.retired ||= how;
    if (session.requests === 0)
      void session.connection.then(({ close }) => close(session.retired === 'told')).catch(() => {});
  }

  /** Discards a session. If another session has already replaced it, the other session is kept. */
  function drop(accountId: string, session: Session, how: 'told' | 'silently'): void {
    session.retired ||= how;
    if (sessions.peek(accountId, { allowStale: true }) === session) sessions.delete(accountId);
    else retire(session, how);
  }

  async function ask<M extends keyof UpstreamResults>(
    place: UpstreamPlace,
    request: UpstreamRequest<M>,
    session: Session,
  ): Promise<UpstreamResults[M]> {
    session.requests++;
    try {
      const connection = await session.connection.catch((error) => {
        const { outcome } = session.connecting;
        throw outcome?.kind === 'failed' ? outcome.error : error;
      });
      return await askUpstream(connection, request, timer);
    } catch (error) {
      // After an error other than a JSON-RPC error, a timeout or a cancellation, the state of the session at the server
      // is unknown, so the session is discarded.
      if (!isResponse(error)) drop(place.accountId, session, 'silently');
      throw error;
    } finally {
      session.requests--;
      if (session.retired && session.requests === 0) retire(session, session.retired);
    }
  }

  return {
    async request(place, request) {
      const { session, isKept } = open(place);
      try {
        return await ask(place, request, session);
      } catch (error) {
        const isForgotten = isKept && (await isSessionUnknown(error, session));
        if (!isForgotten) throw error;
        return ask(place, request, open(place).session);
      }
    },
    forget(accountId) {
      const session = sessions.peek(accountId, { allowStale: true });
      if (session) drop(accountId, session, 'silently');
    },
    sweep: () => void sessions.purgeStale(),
    async close() {
      const open = [...sessions.values()];
      for (const session of open) session.retired ||= 'silently';
      sessions.clear();
      await Promise.allSettled(open.map(async ({ connection }) => (await connection).close(false)));
    },
  };
}

/**
 * Whether the server no longer knows the session, for example after a restart. The protocol requires status 404, but
 * many servers return 400.
 */
async function isSessionUnknown(error: unknown, { connection }: Session): Promise<boolean> {
  if (!(error instanceof StatusError) || (error.status !== 404 && error.status !== 400)) return false;
  return (await connection).hasSession();
}

function isResponse(error: unknown): boolean {
  return error instanceof Error && ['RpcError', 'UpstreamTimeout', 'UpstreamCancelled'].includes(error.name);
}

function fingerprintOf({ url, credential, sendTraceContext = false }: UpstreamPlace): string {
  const parts = credential.map(({ in: place, name, value }) => [place, name, value]);
  return createHash('sha256')
    .update(JSON.stringify([url.href, parts, sendTraceContext]))
    .digest('base64url');
}
