import type { AccountRow } from '../../db/store.ts';
import type { Details } from './authorization-details.ts';
import { bindingViolation, carriedOver, type Definition, type FieldSecrecy, fieldSecrecy } from './binding.ts';
import { formOf, mergeDetails, publicPart } from './details.ts';
import type { JsonObject } from './merge.ts';

/**
 * Merges a change into the stored credentials. If the stored credentials must not be used with the new configuration, a
 * change with credentials replaces all of them. Otherwise the stored fields that a partial change does not contain
 * could be sent to a new place.
 *
 * @returns the new credentials, the secrecy of their fields, and `breach`: why the stored credentials must not be used
 * any more; null if they may be used
 */
export function mergeCredential(
  account: AccountRow,
  definition: Definition,
  apiConfig: JsonObject,
  stored: Details,
  change: Details,
): { details: Details; fields: FieldSecrecy; breach: string | null } {
  const { pattern } = definition;
  const merged = mergeDetails(stored, change);
  const fields = fieldSecrecy(pattern, merged, carriedOver(account.binding.fields, change));
  const holdsSecrets = formOf(stored) !== null || account.temporarySealed !== null;
  const breach = holdsSecrets
    ? bindingViolation(account, definition, { apiConfig, shown: publicPart(merged, fields) })
    : null;
  if (breach === null || formOf(change) === null) return { details: merged, fields, breach };
  const details = mergeDetails({}, change);
  return { details, fields: fieldSecrecy(pattern, details), breach };
}
