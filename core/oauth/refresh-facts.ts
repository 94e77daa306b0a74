import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import type { RenewalKind } from '../connectors/oauth-deviations.ts';

/** The known lifetimes of a provider's tokens, from which the time of the next refresh is computed. */
export interface RefreshFacts {
  /** `rotating`: each refresh uses up its refresh token. null: unknown, so it is treated as rotating. */
  kind: RenewalKind | null;
  /**
   * How long a grant may stay without a refresh before it expires, in milliseconds; null if it does not expire or this
   * is unknown.
   */
  idleLifeMs: number | null;
  /** The maximum lifetime of a grant, in milliseconds, even if it is refreshed; null if unlimited or unknown. */
  lifeMs: number | null;
  /**
   * How long before the access token expires the provider begins to accept a refresh, in milliseconds; null if it
   * accepts one at any time.
   */
  marginMs: number | null;
}

const DAY_MS = 24 * 60 * 60_000;

/** Reads the lifetimes of tokens from a configuration. */
export function refreshFactsOf({ refresh = {} }: OAuthConfig): RefreshFacts {
  const { kind = null, idle_days, life_days, margin_s } = refresh;
  return {
    kind,
    idleLifeMs: idle_days === undefined ? null : idle_days * DAY_MS,
    lifeMs: life_days === undefined ? null : life_days * DAY_MS,
    marginMs: margin_s === undefined ? null : margin_s * 1000,
  };
}
