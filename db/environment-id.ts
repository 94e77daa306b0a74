declare const brand: unique symbol;

/**
 * The id of an environment (`env_…`). The brand is what makes a query without an environment a compile error: rows of
 * `environments` carry it, and a plain string does not fit.
 */
export type EnvironmentId = string & { readonly [brand]: 'EnvironmentId' };

/** Brands a freshly made id, or one that a person typed. @throws TypeError when it does not look like one */
export function environmentId(id: string): EnvironmentId {
  if (!/^env_[0-9a-hjkmnp-tv-z]{26}$/.test(id)) throw new TypeError('not the id of an environment');
  return id as EnvironmentId;
}
