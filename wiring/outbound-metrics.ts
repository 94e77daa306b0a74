import type { OriginState } from '../core/net/egress.ts';
import type { Runtime } from './runtime.ts';

/**
 * The maximum number of origins in the metrics: those with the most calls. Accounts can lead to any number of hosts.
 */
const SHOWN_ORIGINS = 100;

/** Adds metrics of the calls to other hosts: running and waiting ones, and origins to which calls are paused. */
export function addOutboundMetrics({ metrics }: Pick<Runtime, 'metrics'>, state: () => OriginState[]): void {
  const shown = () => busiest(sumByOrigin(state()));
  metrics.gauges(
    'valetkey_outbound_calls',
    `Calls to other hosts by origin and state (running, waiting), of the ${SHOWN_ORIGINS} origins with the most calls`,
    ['origin', 'state'],
    async () =>
      shown().flatMap(({ origin, active, waiting }) => [
        { labels: { origin, state: 'running' }, value: active },
        { labels: { origin, state: 'waiting' }, value: waiting },
      ]),
  );
  metrics.gauges(
    'valetkey_outbound_paused',
    '1 for each origin to which calls are paused, because several failed without a response',
    ['origin'],
    async () =>
      shown()
        .filter(({ isPaused }) => isPaused)
        .map(({ origin }) => ({ labels: { origin }, value: 1 })),
  );
}

function sumByOrigin(states: readonly OriginState[]): OriginState[] {
  const sums = new Map<string, OriginState>();
  for (const state of states) {
    const sum = sums.get(state.origin) ?? { origin: state.origin, active: 0, waiting: 0, isPaused: false };
    sum.active += state.active;
    sum.waiting += state.waiting;
    sum.isPaused ||= state.isPaused;
    sums.set(state.origin, sum);
  }
  return [...sums.values()];
}

function busiest(states: OriginState[]): OriginState[] {
  const weight = ({ active, waiting, isPaused }: OriginState) => active + waiting + (isPaused ? 1 : 0);
  return states.sort((a, b) => weight(b) - weight(a)).slice(0, SHOWN_ORIGINS);
}
