import type { ByteBudget } from '../core/budgets/byte-budget.ts';
import { createEgress, type Egress, type EgressOptions, type OriginState } from '../core/net/egress.ts';
import { interfaceAddresses } from '../core/net/own-addresses.ts';
import { EgressPolicy } from '../core/net/policy.ts';
import {
  type EndpointOverride,
  type HostPort,
  parseEgressAllow,
  parseEndpointOverrides,
} from '../core/net/policy-settings.ts';
import { type Config, readSetting } from '../http/config/config.ts';
import type { Environment } from '../http/pipeline/environments.ts';

/**
 * The addresses that development environments may call in addition to public ones, and the overrides of endpoints.
 * Production environments may only call public addresses, and have no overrides.
 */
export interface EgressRules {
  allowedAddresses: readonly HostPort[];
  endpointOverrides: readonly EndpointOverride[];
}

/** The outbound clients of all environments. */
export interface EnvironmentEgress {
  readonly egressRules: EgressRules;
  of(environment: Pick<Environment, 'id' | 'kind'>): Egress;
  /** Returns the calls of all environments by origin; an origin is listed once for each environment. */
  state(): OriginState[];
  /** Waits for the running calls, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Creates the outbound clients of environments, each at its first use. Each environment has its own queues, lookups,
 * connections and failure state, so that no environment can use up those of another. Memory for bodies is divided
 * between them. Loopback permissions and overrides only apply to development environments.
 *
 * @throws ConfigError that names the setting
 */
export function createEnvironmentEgress(
  { egressAllow, endpointOverrides }: Pick<Config, 'egressAllow' | 'endpointOverrides'>,
  bodies: ByteBudget,
  options: EgressOptions = {},
): EnvironmentEgress {
  const ownAddresses = interfaceAddresses();
  const allow = readSetting(() => parseEgressAllow(egressAllow));
  const overrides = readSetting(() => parseEndpointOverrides(endpointOverrides));
  const policies = {
    DEVELOPMENT: readSetting(() => new EgressPolicy({ allow, overrides, ownAddresses })),
    PRODUCTION: new EgressPolicy({ allow: [], overrides: [], ownAddresses }),
  };
  const open = new Map<string, Egress>();
  return {
    egressRules: { allowedAddresses: allow, endpointOverrides: overrides },
    of({ id, kind }) {
      const key = `${id} ${kind}`;
      const egress = open.get(key) ?? createEgress(policies[kind], { ...options, bodies: bodies.of(id) });
      open.set(key, egress);
      return egress;
    },
    state: () => [...open.values()].flatMap((egress) => egress.state()),
    close: async () => {
      await Promise.all([...open.values()].map((egress) => egress.close()));
    },
  };
}
