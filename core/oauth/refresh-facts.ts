import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import type { RenewalKind } from '../connectors/oauth-deviations.ts';

/** The known lifetimes of a provider's tokens, from which the time of the next refresh is computed. */
export interface RefreshFacts {
  /** `rotating`: each refresh spends its token. null: not known, so it is to be treated as the most delicate one. */
  kind: RenewalKind | null;
  /** A grant that is not refreshed for so long ends, in milliseconds; null: it does not, or not as far as is known. */
  idleLifeMs: number | null;
  /** The maximum lifetime of a grant, in milliseconds, even if it is refreshed. */
  lifeMs: number | null;
  /** A provider that refuses early refreshes takes them from so long before the end on, in milliseconds. */
  marginMs: number | null;
}

const DAY_MS = 24 * 60 * 60_000;

/** Reads what a config says of the life of tokens. */
export function refreshFactsOf({ refresh = {} }: OAuthConfig): RefreshFacts {
  const { kind = null, idle_days, life_days, margin_s } = refresh;
  return {
    kind,
    idleLifeMs: idle_days === undefined ? null : idle_days * DAY_MS,
    lifeMs: life_days === undefined ? null : life_days * DAY_MS,
    marginMs: margin_s === undefined ? null : margin_s * 1000,
  };
}
