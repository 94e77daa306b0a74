import { isStaticType, secretFieldsOf, staticFieldsOf } from '../authorization/fields.ts';
import { moduleOf } from '../authorization/registry.ts';
import type { FieldError } from '../errors.ts';
import { AddressError, addressPlaces } from './address-template.ts';
import { type AuthField, type AuthPattern, type FieldPlacement, isSecretField } from './auth-pattern.ts';
import { checkOAuth } from './check-oauth.ts';
import { isCookieName, isCredentialHeader } from './header-names.ts';
import { patternProblem } from './linear-pattern.ts';
import { oauthAddresses } from './oauth-addresses.ts';

/** The parts of a provider that `checkAuthPatterns` compares the patterns with: addresses, and uses of the fields. */
export interface PatternContext {
  /** proxy_url of a custom provider, or the API base of a connector. */
  baseUrl?: string;
  /** The path of `baseUrl` in error messages; by default `proxy_url`. */
  baseUrlField?: string;
  /** Fields that are used elsewhere, for example in the paths of a connector's tools. */
  usedElsewhere?: ReadonlySet<string>;
  /**
   * Returns why an http address cannot be called; null if it can. Without this function, http addresses are rejected.
   */
  checkHttp?(address: string): string | null;
}

/**
 * Checks the rules for auth_patterns that a schema cannot express: names, patterns, addresses and their placeholders.
 *
 * @param patterns already valid against the contract's schema
 * @returns errors with paths such as auth_patterns[0].fields[1].pattern; an empty list if there are none
 */
export function checkAuthPatterns(patterns: readonly AuthPattern[], context: PatternContext = {}): FieldError[] {
  const base = baseFields(context);
  const errors = [...base.errors];
  const seen = new Set<string>();
  patterns.forEach((pattern, index) => {
    const path = `auth_patterns[${index}]`;
    if (seen.has(pattern.type)) errors.push({ field: `${path}.type`, message: `is used twice: ${pattern.type}` });
    seen.add(pattern.type);
    const endpoints = checkEndpoints(pattern, path, context);
    const used = new Set([...base.fields, ...endpoints.fields, ...(context.usedElsewhere ?? [])]);
    // Without a base address, a field may be intended for a base address that is set later, so its use is not checked.
    errors.push(...endpoints.errors, ...checkFields(pattern, path, context.baseUrl ? used : undefined));
    errors.push(...checkKnownPlaces(pattern, base.fields, `${context.baseUrlField ?? 'proxy_url'}`, path));
    errors.push(...checkPlacement(pattern, path), ...checkMutations(pattern, path));
    errors.push(...checkOAuth(pattern, path));
  });
  return errors;
}

function baseFields(context: PatternContext): { fields: string[]; errors: FieldError[] } {
  if (!context.baseUrl) return { fields: [], errors: [] };
  return placesOf(context.baseUrl, context.baseUrlField ?? 'proxy_url', context);
}

function placesOf(
  address: string,
  field: string,
  { checkHttp, ...options }: Pick<PatternContext, 'checkHttp'> & { query?: boolean },
): { fields: string[]; errors: FieldError[] } {
  try {
    const fields = addressPlaces(address, options).map((place) => place.field);
    const problem = /^http:/.test(address) ? (checkHttp ? checkHttp(address) : 'must start with https://') : null;
    return { fields, errors: problem === null ? [] : [{ field, message: problem }] };
  } catch (error) {
    if (error instanceof AddressError) return { fields: [], errors: [{ field, message: error.message }] };
    throw error;
  }
}

function checkEndpoints(
  pattern: AuthPattern,
  path: string,
  { checkHttp }: PatternContext,
): { fields: string[]; errors: FieldError[] } {
  const fields: string[] = [];
  const errors: FieldError[] = [];
  const config = pattern.oauth_config ?? {};
  const visited = config.authorize_uri === undefined ? [] : [{ path: 'authorize_uri', template: config.authorize_uri }];
  for (const address of [...visited, ...oauthAddresses(config)]) {
    const at = `${path}.oauth_config.${address.path}`;
    const places = placesOf(address.template, at, { checkHttp, query: true });
    fields.push(...places.fields);
    errors.push(...places.errors, ...unknownPlaces(pattern, places.fields, at));
  }
  return { fields, errors };
}

function checkKnownPlaces(pattern: AuthPattern, fields: string[], baseField: string, path: string): FieldError[] {
  return unknownPlaces(pattern, fields, baseField).map((error) => ({
    ...error,
    message: `${error.message} in ${path}`,
  }));
}

function unknownPlaces(pattern: AuthPattern, places: string[], field: string): FieldError[] {
  const entered = [...staticFieldsOf(pattern).filter((item) => item.is_path_param), ...(pattern.account_fields ?? [])];
  const fromConsent = pattern.oauth_config?.account_values ?? [];
  const known = new Set([...entered.map((item) => item.field_name), ...fromConsent.map((value) => value.name)]);
  return places
    .filter((place) => !known.has(place))
    .map((place) => ({
      field,
      message: `{{${place}}} requires a field ${place} with is_path_param, or an account field or value ${place}`,
    }));
}

function checkFields(pattern: AuthPattern, path: string, used: ReadonlySet<string> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const secret = secretFieldsOf(pattern);
  if (isStaticType(pattern.type) && pattern.fields?.length === 0) {
    errors.push({ field: `${path}.fields`, message: 'must not be empty: omit it to use the default fields' });
  }
  for (const list of ['fields', 'account_fields'] as const) {
    (pattern[list] ?? []).forEach((field, index) => {
      const at = `${path}.${list}[${index}]`;
      if (names.has(field.field_name))
        errors.push({ field: `${at}.field_name`, message: `is used twice: ${field.field_name}` });
      names.add(field.field_name);
      const isSecret = list === 'fields' && secret.has(field.field_name);
      errors.push(...checkField(field, at, used, isSecret), ...(list === 'account_fields' ? shownOnly(field, at) : []));
    });
  }
  return errors;
}

function checkField(
  field: AuthField,
  at: string,
  used: ReadonlySet<string> | undefined,
  isSecret: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const problem = field.pattern === undefined ? undefined : patternProblem(field.pattern);
  if (problem) errors.push({ field: `${at}.pattern`, message: problem });
  if (field.input_type === 'select' && !field.options?.length) {
    errors.push({ field: `${at}.options`, message: 'are required for a select' });
  }
  for (const option of Object.keys(field.option_names ?? {})) {
    if (field.options?.includes(option)) continue;
    errors.push({ field: `${at}.option_names`, message: `names ${option}, which is not in options` });
  }
  if (field.is_path_param && isSecret) {
    errors.push({
      field: `${at}.is_path_param`,
      message: 'is not allowed for a secret: URLs are written to logs',
    });
  }
  if (field.is_path_param && used && !used.has(field.field_name)) {
    const message = `requires {{${field.field_name}}} in proxy_url or an endpoint`;
    errors.push({ field: `${at}.is_path_param`, message });
  }
  errors.push(...placementProblems(field.placement, at));
  return errors;
}

function shownOnly(field: AuthField, at: string): FieldError[] {
  if (!isSecretField(field)) return [];
  return [{ field: `${at}.input_type`, message: 'must be text or select: account fields are not encrypted' }];
}

function checkPlacement(pattern: AuthPattern, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const override = pattern.auth_header_key_override;
  if (override !== undefined && !isCredentialHeader(override)) {
    errors.push({ field: `${path}.auth_header_key_override`, message: 'is not a header that can carry a credential' });
  }
  errors.push(...placementProblems(pattern.placement, path));
  if (pattern.placement && override !== undefined) {
    errors.push({ field: `${path}.placement`, message: 'cannot be combined with auth_header_key_override' });
  }
  return errors;
}

function placementProblems(placement: FieldPlacement | undefined, at: string): FieldError[] {
  if (placement?.in === 'header' && !isCredentialHeader(placement.name)) {
    return [{ field: `${at}.placement.name`, message: 'is not a header that can carry a credential' }];
  }
  if (placement?.in === 'cookie' && !isCookieName(placement.name)) {
    return [{ field: `${at}.placement.name`, message: 'is not a valid cookie name' }];
  }
  return [];
}

function checkMutations(pattern: AuthPattern, path: string): FieldError[] {
  const taken = moduleOf(pattern.type).entered?.reservedNames ?? [];
  const known = new Set([...staticFieldsOf(pattern).map((field) => field.field_name), ...taken]);
  if (!isStaticType(pattern.type)) known.add('access_token');
  return Object.keys(pattern.auth_field_mutations ?? {})
    .filter((name) => !known.has(name))
    .map((name) => ({
      field: `${path}.auth_field_mutations.${name}`,
      message: `is not the name of a field of this pattern (allowed: ${[...known].join(', ') || 'none'})`,
    }));
}
