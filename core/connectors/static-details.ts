import { secretFieldsOf, staticFieldsOf } from '../authorization/fields.ts';
import { moduleOf } from '../authorization/registry.ts';
import type { FieldError } from '../errors.ts';
import type { AuthField, AuthPattern } from './auth-pattern.ts';
import { API_CONFIG_PATH } from './base-url.ts';
import { compileLinearPattern } from './linear-pattern.ts';

const DETAILS_PATH = 'connected_account.authorization_details.static_auth.details';
const MAX_VALUE_LENGTH = 16_384;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, without the line breaks of a text area
const CONTROL_BUT_BREAKS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/**
 * Checks all of static_auth.details against the fields of a pattern. In an update, these are the stored values with the
 * changed ones merged in. Stored values are not checked against the pattern's rules: an attacker who can change the
 * rules could learn the values from the result.
 *
 * @param entered the names of the fields that the caller has set; if omitted, all fields
 * @returns one error per field: required and missing, unknown, not a string, or not matching its pattern
 */
export function checkStaticDetails(
  pattern: AuthPattern,
  details: Readonly<Record<string, unknown>>,
  entered: ReadonlySet<string> = new Set(Object.keys(details)),
): FieldError[] {
  const fields = staticFieldsOf(pattern);
  const errors: FieldError[] = [];
  for (const field of fields) {
    const value = Object.hasOwn(details, field.field_name) ? details[field.field_name] : undefined;
    const absent = value === undefined || value === '';
    const isEntered = entered.has(field.field_name);
    const message = absent ? missing(pattern, field) : isEntered ? valueProblem(field, value) : undefined;
    if (message) errors.push({ field: `${DETAILS_PATH}.${field.field_name}`, message });
  }
  return [...errors, ...unknownKeys(fields, details), ...problemsOfType(pattern, details, entered)];
}

/** Whether all fields that the pattern requires are present, and no unknown field. */
export function isComplete(pattern: AuthPattern, details: Readonly<Record<string, unknown>>): boolean {
  return checkStaticDetails(pattern, details, new Set()).length === 0;
}

/**
 * Checks the values of api_config that the pattern's account_fields declare. Missing values are accepted, because the
 * user can still be asked for them.
 */
export function checkAccountFields(pattern: AuthPattern, apiConfig: Readonly<Record<string, unknown>>): FieldError[] {
  return (pattern.account_fields ?? []).flatMap((field) => {
    const value = Object.hasOwn(apiConfig, field.field_name) ? apiConfig[field.field_name] : undefined;
    const message = value === undefined ? undefined : valueProblem(field, value);
    return message ? [{ field: `${API_CONFIG_PATH}.${field.field_name}`, message }] : [];
  });
}

/** Returns the names of the static fields that may be shown. A field that the pattern does not list is never shown. */
export function publicFieldsOf(pattern: AuthPattern): ReadonlySet<string> {
  const secret = secretFieldsOf(pattern);
  const names = staticFieldsOf(pattern).map((field) => field.field_name);
  return new Set(names.filter((name) => !secret.has(name)));
}

function missing(pattern: AuthPattern, field: AuthField): string | undefined {
  const hasDefault = pattern.auth_field_mutations?.[field.field_name]?.default !== undefined;
  return field.required && !hasDefault ? 'is required' : undefined;
}

function valueProblem(field: AuthField, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > MAX_VALUE_LENGTH) return `must have at most ${MAX_VALUE_LENGTH} characters`;
  if ((field.input_type === 'textarea' ? CONTROL_BUT_BREAKS : CONTROL).test(value)) {
    return 'must not contain control characters';
  }
  if (field.input_type === 'select' && !field.options?.includes(value)) {
    return `must be one of ${field.options?.join(', ')}`;
  }
  if (field.pattern !== undefined && !compileLinearPattern(field.pattern).matches(value)) {
    return `must match the pattern ${field.pattern}`;
  }
  return undefined;
}

/** Returns errors for fields that the pattern does not have. A pattern without a field list accepts any fields. */
function unknownKeys(fields: readonly AuthField[], details: Readonly<Record<string, unknown>>): FieldError[] {
  if (fields.length === 0) return [];
  const known = new Set(fields.map((field) => field.field_name));
  return Object.keys(details)
    .filter((key) => !known.has(key))
    .map((key) => ({
      field: `${DETAILS_PATH}.${key}`,
      message: `unknown field (allowed: ${[...known].join(', ')})`,
    }));
}

/**
 * Checks the newly supplied values by the rules of the authorization type, which apply in addition to those of the
 * fields.
 */
function problemsOfType(
  { type }: AuthPattern,
  details: Readonly<Record<string, unknown>>,
  given: ReadonlySet<string>,
): FieldError[] {
  const { entered } = moduleOf(type);
  if (!entered?.problemOf) return [];
  return [...given].flatMap((name) => {
    const value = Object.hasOwn(details, name) ? details[name] : undefined;
    const message = typeof value === 'string' ? entered.problemOf?.(name, value) : undefined;
    return message ? [{ field: `${DETAILS_PATH}.${name}`, message }] : [];
  });
}
