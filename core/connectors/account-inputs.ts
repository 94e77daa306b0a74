import { staticFieldsOf } from '../authorization/fields.ts';
import type { AccountInputs } from './account-value.ts';
import type { AuthPattern } from './auth-pattern.ts';
import { type ChosenSite, chooseSite, SITE } from './sites.ts';

/**
 * Collects the account values that URLs may contain: strings and numbers of the account's api_config, and static fields
 * with is_path_param, which take precedence over an api_config key of the same name. It also selects the account's
 * site: the replacement addresses for these values, such as those of a region.
 */
export function accountInputs(
  pattern: AuthPattern,
  apiConfig: Readonly<Record<string, unknown>>,
  details: Readonly<Record<string, unknown>> = {},
): AccountInputs {
  const inputs: Record<string, string> & { [SITE]?: ChosenSite } = Object.create(null);
  for (const [key, value] of Object.entries(apiConfig)) {
    if (typeof value === 'string' || typeof value === 'number') inputs[key] = String(value);
  }
  for (const field of staticFieldsOf(pattern)) {
    const value = Object.hasOwn(details, field.field_name) ? details[field.field_name] : undefined;
    if (field.is_path_param && typeof value === 'string') inputs[field.field_name] = value;
  }
  const site = chooseSite(pattern, inputs);
  if (site) inputs[SITE] = site;
  return inputs;
}
