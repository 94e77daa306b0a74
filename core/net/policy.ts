import { isIP } from 'node:net';
import { addressClass, canonicalAddress } from './address.ts';
import { EgressError } from './egress-error.ts';
import {
  type EndpointOverride,
  type HostPort,
  readHostPort,
  readOverriddenOrigin,
  readOverrideTarget,
} from './policy-settings.ts';
import { isLoopbackHost, originOf, type Target, targetOf } from './target.ts';

export interface EgressPolicyConfig {
  /** These hosts may be called on these ports: loopback hosts over http or https, public hosts only over https. */
  allow: readonly HostPort[];
  /** An override also permits calls to its target. */
  overrides: readonly EndpointOverride[];
  /** The server's own addresses. A call to a public host is rejected if the host resolves to one of them. */
  ownAddresses?: readonly string[];
}

/** Which addresses a host may resolve to. */
export type Reach = 'public' | 'loopback';

/** The requested origin of a URL, and where the request is sent: to that origin, or to the target of its override. */
export interface Route {
  origin: string;
  target: Target;
  /** The origin of `target`, which is also used in the Host header. */
  targetOrigin: string;
}

/**
 * The rules for outbound calls. Because of the private fields, TypeScript accepts only objects of this class as a
 * policy. So stored data cannot become one: only its constructor, which gets the operator's settings, permits loopback
 * and plain http.
 */
export class EgressPolicy {
  readonly #allow = new Map<string, Reach>();
  readonly #overrides = new Map<string, Pick<Route, 'target' | 'targetOrigin'>>();
  readonly #own: ReadonlySet<string>;

  /** @throws Error naming the invalid entry */
  constructor(config: EgressPolicyConfig) {
    for (const entry of config.allow) this.#allowHost(readHostPort(entry));
    for (const { origin, target } of config.overrides) {
      const local = targetOf(readOverrideTarget(target));
      this.#overrides.set(readOverriddenOrigin(origin), { target: local, targetOrigin: originOf(local) });
      this.#allowHost(local);
    }
    this.#own = new Set((config.ownAddresses ?? []).map(canonicalAddress));
  }

  #allowHost({ hostname, port }: Omit<Target, 'tls'>): void {
    this.#allow.set(`${hostname}:${port}`, isLoopbackHost(hostname) ? 'loopback' : 'public');
  }

  /**
   * Checks a URL before its host name is resolved, and applies the override of its origin. An overridden call has the
   * local target in its Host header, because test servers create the URLs in their responses from this header.
   *
   * @throws EgressError `blocked`
   */
  route(url: URL): Route {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw blocked('Only https URLs can be called.');
    if (url.username !== '' || url.password !== '') {
      throw blocked('A URL to call must not contain a user name or a password.');
    }
    if (url.hostname.endsWith('.')) throw blocked('A host name to call must not end with a dot.');
    const { origin } = url;
    const { target, targetOrigin } = this.#overrides.get(origin) ?? { target: targetOf(url), targetOrigin: origin };
    this.permit(target);
    return { origin, target, targetOrigin };
  }

  /**
   * Returns which addresses a target may resolve to. The connector calls this for each connection, so the connector
   * does not rely on the checks of its callers.
   *
   * @throws EgressError `blocked`
   */
  permit(target: Target): Reach {
    const { hostname, port } = target;
    const reach = this.#allow.get(`${hostname}:${port}`);
    if (reach === 'loopback') return reach;
    if (!target.tls) throw blocked(isLoopbackHost(hostname) ? LOCAL_HTTP : 'Only https URLs can be called.');
    if (isLoopbackHost(hostname) || (isIP(hostname) !== 0 && !this.admits(hostname, 'public'))) {
      throw blocked(`${hostname} is not a public internet address.`);
    }
    if (port !== 443 && reach === undefined) throw blocked(`Port ${port} of ${hostname} is not allowed: use port 443.`);
    return 'public';
  }

  /** Whether an IP address may be connected to within the permitted reach. */
  admits(address: string, reach: Reach): boolean {
    const kind = addressClass(address);
    if (reach === 'loopback') return kind === 'loopback';
    return kind === 'public' && !this.#own.has(canonicalAddress(address));
  }
}

const LOCAL_HTTP =
  'Only https URLs can be called, and in development http URLs on this machine that VALETKEY_EGRESS_ALLOW lists.';

function blocked(message: string): EgressError {
  return new EgressError('blocked', message);
}
