declare const brand: unique symbol;

/**
 * The id of an environment (`env_…`). The type is branded, so that a query without an environment does not compile:
 * only rows of `environments` contain such ids, and a plain string is not accepted.
 */
export type EnvironmentId = string & { readonly [brand]: 'EnvironmentId' };

/** Brands a new id, or an id that an operator typed. @throws TypeError if it has the wrong format */
export function environmentId(id: string): EnvironmentId {
  if (!/^env_[0-9a-hjkmnp-tv-z]{26}$/.test(id))
    throw new TypeError(`${JSON.stringify(id.slice(0, 60))} is not the id of an environment, such as env_…`);
  return id as EnvironmentId;
}
