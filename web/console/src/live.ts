import type { QueryClient } from '@tanstack/react-query';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { fetchWithToken } from './api.ts';
import { refresh } from './refresh.ts';
import { currentSession } from './session.ts';

/**
 * Keeps the pages current. If the environment keeps its events, one tab of the browser reads their stream, because a
 * browser opens few connections to one host. This tab tells the others which data has changed. Data without events is
 * requested again every few seconds, in visible tabs only.
 */

/**
 * Maps the first part of an event's type to names. After such an event, each query whose key contains one of these
 * names is outdated.
 */
const CHANGED: Record<string, readonly string[]> = {
  connected_account: ['accounts', 'account', 'audit'],
  link: ['accounts', 'account', 'audit'],
  revocation: ['revocations', 'account', 'audit'],
  connection: ['connections', 'connection', 'audit'],
  custom_provider: ['providers', 'audit'],
  tool: ['tools', 'audit'],
  tools: ['tools', 'audit'],
  tool_overlay: ['overlays', 'tools', 'audit'],
  mcp_config: ['mcp', 'audit'],
  mcp_client: ['mcp', 'audit'],
  mcp_grant: ['mcp', 'audit'],
  api_client: ['settings', 'audit'],
  operator_session: ['settings', 'audit'],
  environment: ['settings', 'audit'],
  webhook_endpoint: ['webhooks', 'audit'],
};

/** Queries that stored events do not cover, because there are too many calls, deliveries and successful refreshes. */
const WITHOUT_EVENTS = ['executions', 'deliveries', 'refreshes'];
const WITH_EVENTS = [
  'accounts',
  'account',
  'audit',
  'revocations',
  'connections',
  'connection',
  'mcp',
  'overlays',
  'webhooks',
];

export type LiveState = 'connecting' | 'live';

const GATHER_MS = 400;
const RETRY_MS = 3000;
const POLL_MS = 5000;
const NO_SESSION_MS = 250;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let state: LiveState = 'connecting';
const listeners = new Set<() => void>();

export function liveState(): LiveState {
  return state;
}

export function onLiveState(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setState(next: LiveState): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

/** Whether the environment stores its events, according to the response with the last access token. */
const keepsEvents = () => currentSession()?.environment.keepsEvents === true;

/** Keeps the pages current, for as long as the tab is open. */
export function keepCurrent(queries: QueryClient): void {
  void poll(queries);
  followEvents(queries);
}

async function poll(queries: QueryClient): Promise<void> {
  while (!currentSession()) await pause(NO_SESSION_MS);
  if (!keepsEvents()) setState('live');
  for (;;) {
    await pause(POLL_MS);
    if (!currentSession() || document.hidden) continue;
    const isStreamed = keepsEvents() && state === 'live';
    const kinds = new Set(isStreamed ? WITHOUT_EVENTS : [...WITHOUT_EVENTS, ...WITH_EVENTS]);
    const failure = await refresh(queries, kinds).then(
      () => undefined,
      (error: unknown) => error,
    );
    // A request that gets no response fails with a TypeError.
    if (!keepsEvents()) setState(failure instanceof TypeError ? 'connecting' : 'live');
  }
}

function followEvents(queries: QueryClient): void {
  const channel = new BroadcastChannel('valetkey-events');
  const changed = new Set<string>();
  let isWaiting = false;
  const gather = (type: string) => {
    for (const key of CHANGED[type.split('.')[0] ?? ''] ?? []) changed.add(key);
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      const kinds = new Set(changed);
      changed.clear();
      refresh(queries, kinds).catch(() => {});
    }, GATHER_MS);
  };
  channel.onmessage = ({ data }: MessageEvent<{ type?: string; state?: LiveState }>) => {
    if (data.type) gather(data.type);
    if (data.state && keepsEvents()) setState(data.state);
  };
  const tell = (next: LiveState) => {
    setState(next);
    channel.postMessage({ state: next });
  };
  // In a browser without the Web Locks API, each tab reads the stream of events itself.
  const alone = (run: () => Promise<void>) =>
    'locks' in navigator ? navigator.locks.request('valetkey-events', run) : run();
  void alone(async () => {
    let lastId: string | undefined;
    for (;;) {
      if (!keepsEvents()) {
        await pause(NO_SESSION_MS);
        continue;
      }
      lastId = await readStream(lastId, tell, (type) => {
        gather(type);
        channel.postMessage({ type });
      });
      await pause(RETRY_MS * (0.5 + Math.random()));
    }
  });
}

async function readStream(
  lastId: string | undefined,
  tell: (state: LiveState) => void,
  onEvent: (type: string) => void,
): Promise<string | undefined> {
  let last = lastId;
  try {
    const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
    const response = await fetchWithToken('/api/v1/events:stream', { headers });
    if (!response.ok || !response.body) {
      tell('connecting');
      return undefined;
    }
    tell('live');
    const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    const reader = events.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      last = value.id ?? last;
      if (value.event) onEvent(value.event);
    }
  } catch {
    // The connection was lost; the caller connects again.
  }
  tell('connecting');
  return last;
}
