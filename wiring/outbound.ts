import type { Egress } from '../core/net/egress.ts';
import { createDiscovery, type Discovery } from '../core/oauth/discovery.ts';
import type { ProtocolFetch } from '../core/oauth/transport.ts';
import type { EnvironmentId, EnvironmentRow } from '../db/store.ts';
import { createEnvironmentEgress, type EgressRules } from './environment-egress.ts';
import { addOutboundMetrics } from './outbound-metrics.ts';
import { createPinnedFetch } from './pinned-fetch.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

/** The parts that call other hosts. All outbound requests of the server go through them. */
export interface Outbound {
  egressOf(environment: EnvironmentRow): Egress;
  /** Returns a fetch for protocol requests of an environment, restricted to these origins. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): Promise<ProtocolFetch>;
  /** The rules of development environments, from the server's settings. */
  readonly egressRules: EgressRules;
  /** Reads and caches the metadata of authorization servers. */
  readonly discovery: Discovery;
}

/** @throws ConfigError that names the setting */
export function createOutbound(
  { config, choose, closing }: Setup,
  { now, bodies, metrics, store }: Pick<Runtime, 'now' | 'bodies' | 'metrics'> & Pick<Storage, 'store'>,
): Outbound {
  const egress = createEnvironmentEgress(config, bodies);
  closing.defer(egress.close);
  addOutboundMetrics({ metrics }, egress.state);
  const egressOf = choose('egressOf', () => egress.of);
  const { egressRules } = egress;
  return { egressOf, egressRules, fetchFor: createPinnedFetch({ store, egressOf }), discovery: createDiscovery(now) };
}
