import { isStaticType, staticFieldsOf } from '../../authorization/fields.ts';
import { moduleOf } from '../../authorization/registry.ts';
import { isClientPattern } from '../../authorization/roles.ts';
import type { AuthField, AuthPattern } from '../../connectors/auth-pattern.ts';
import type { JsonObject } from '../merge.ts';

/** How a user completes a link: by consent at the provider, or by entering credentials into a form of Valetkey. */
export type Completion = 'consent' | 'form';

/** @returns null for a pattern whose accounts need no user: there is nothing to consent to and nothing to enter */
export function completionOf(pattern: AuthPattern): Completion | null {
  if (usersEnterCredentials(pattern)) return 'form';
  return moduleOf(pattern.type).consent?.isPossible(pattern) ? 'consent' : null;
}

/**
 * Whether users enter credentials for accounts of a pattern, for example the id and secret of their own OAuth client.
 */
export function usersEnterCredentials(pattern: AuthPattern): boolean {
  const isEnteredType = isStaticType(pattern.type) || isClientPattern(pattern);
  return isEnteredType && staticFieldsOf(pattern).length > 0;
}

/**
 * Returns the settings that the link page asks the user for: those of the pattern that the application has not set. An
 * optional field that selects a site of the provider (for example a region) is asked for only if the user must enter
 * credentials anyway, so that it does not add a form before consent.
 */
export function missingAccountFields(pattern: AuthPattern, apiConfig: JsonObject): AuthField[] {
  const asks = ({ required, sites }: AuthField) => required || sites === undefined || usersEnterCredentials(pattern);
  return (pattern.account_fields ?? []).filter((field) => !Object.hasOwn(apiConfig, field.field_name) && asks(field));
}
