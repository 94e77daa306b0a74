import { formNamed, moduleOf } from '../authorization/registry.ts';
import { isClientPattern } from '../authorization/roles.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { checkStaticDetails, isComplete } from '../connectors/static-details.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { FieldSecrecy } from './binding.ts';
import type { JsonObject } from './merge.ts';
import { isObject } from './merge.ts';

/** `authorization_details`: one object under the name of its form, or nothing. */
export type Details = { oauth_token?: JsonObject; static_auth?: JsonObject; [form: string]: JsonObject | undefined };

const DETAILS_FIELD = 'connected_account.authorization_details';

/** The form in use, or null for no details at all. */
export function formOf(details: Details): string | null {
  return Object.keys(details)[0] ?? null;
}

/** The fields that `static_auth` carries; empty for any other form. */
export function staticFieldsIn(details: Details): JsonObject {
  return asObject(details.static_auth?.['details']);
}

/** Types of connection whose accounts may carry this form; used where a first account decides the type of its connection. */
export function typeTakes(type: AuthorizationType, form: string): boolean {
  return moduleOf(type).forms.some(({ name }) => name === form);
}

/**
 * Refuses details of a form that the type of the connection does not take.
 *
 * @param field how errors name the details
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS
 */
function checkForm(type: AuthorizationType, details: Details, field: string): void {
  const form = formOf(details);
  if (form === null || typeTakes(type, form)) return;
  const names = moduleOf(type).forms.map(({ name }) => name);
  const expected = names.length > 0 ? `takes ${names.join(' or ')}` : 'takes no credentials';
  refuse([{ field: `${field}.${form}`, message: `does not match: a connection of type ${type} ${expected}` }]);
}

/** What the form demands of its values. @throws ApiError INVALID_AUTHORIZATION_DETAILS */
function checkValues(type: AuthorizationType, details: Details, apiConfig: JsonObject): void {
  const form = moduleOf(type).forms.find(({ name }) => name === formOf(details));
  const errors = form?.problemsOf?.(details[form.name] ?? {}, apiConfig) ?? [];
  if (errors.length === 0) return;
  refuse(errors.map(({ field, message }) => ({ field: `${DETAILS_FIELD}.${form?.name}.${field}`, message })));
}

/**
 * Merges a change into stored details: only the fields that the change carries are changed. Within `static_auth.details` each
 * field is one; an empty change changes nothing. Changing the form replaces the details.
 */
export function mergeDetails(current: Details, change: Details): Details {
  const form = formOf(change);
  if (form === null) return current;
  const before = current[form] ?? {};
  const after = change[form] ?? {};
  if (form === 'oauth_token' && after['access_token'] !== undefined) {
    // The secret is that of the token that is replaced.
    const { token_secret: _secret, ...rest } = before;
    return { oauth_token: mergeFields(rest, after) };
  }
  if (form !== 'static_auth') return { [form]: mergeFields(before, after) };
  return { static_auth: { details: mergeFields(asObject(before['details']), asObject(after['details'])) } };
}

/**
 * True when the details suffice to act: a token, every required field, a subject, a database user where one is needed.
 *
 * @param pattern the pattern of the account: its type, and its fields for `static_auth`
 * @param apiConfig the account's configuration: it tells a provisioned cluster from a serverless workgroup
 */
export function areUsable(pattern: AuthPattern, details: Details, apiConfig: JsonObject): boolean {
  const { forms } = moduleOf(pattern.type);
  if (forms.length === 0) return true;
  const form = formOf(details);
  // A machine client needs only the client of the connection, unless accounts have their own client.
  if (form === null) return isClientPattern(pattern) && isComplete(pattern, {});
  const rules = forms.find(({ name }) => name === form);
  if (!rules?.isUsable(details[form] ?? {}, apiConfig)) return false;
  return form !== 'static_auth' || isComplete(pattern, staticFieldsIn(details));
}

/** The details as those who may read credentials see them. */
export function withoutInternals(details: Details): Details {
  const form = formOf(details);
  const hidden = form === null ? undefined : formNamed(form).internal;
  if (form === null || hidden === undefined) return details;
  return { [form]: Object.fromEntries(Object.entries(details[form] ?? {}).filter(([name]) => !hidden.includes(name))) };
}

/**
 * What of the details may be shown without the right to read credentials.
 *
 * @param fields which of the static fields may be shown, from `fieldSecrecy`
 */
export function publicPart(details: Details, fields: FieldSecrecy): Details {
  const form = formOf(details);
  if (form === null) return {};
  const value = details[form] ?? {};
  if (form !== 'static_auth') return { [form]: pick(value, formNamed(form).shown) };
  const names = Object.keys(fields).filter((name) => fields[name] === 'public');
  return { static_auth: { details: pick(asObject(value['details']), names) } };
}

/** The JSON Merge Patch (RFC 7396) that removes from public details what the service obtained for accounts of a type. */
export function withoutObtained(type: AuthorizationType): JsonObject {
  const patches = moduleOf(type).forms.flatMap(({ name, obtained }) => {
    if (obtained === undefined) return [];
    return [[name, obtained === 'all' ? null : Object.fromEntries(obtained.map((field) => [field, null]))] as const];
  });
  return Object.fromEntries(patches);
}

/**
 * Checks details against the pattern of an account: the form fits the type, and typed fields fit the pattern's.
 *
 * @param details complete, after any merge
 * @param change what of them has just been given; stored values are not judged by rules that may have come later
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS that names each field
 */
export function checkDetails(pattern: AuthPattern, details: Details, change: Details, apiConfig: JsonObject): void {
  checkForm(pattern.type, details, DETAILS_FIELD);
  checkValues(pattern.type, details, apiConfig);
  const given = staticFieldsIn(details);
  if (Object.keys(given).length === 0) return;
  const errors = checkStaticDetails(pattern, given, new Set(Object.keys(staticFieldsIn(change))));
  if (errors.length > 0) refuse(errors);
}

/** `null` removes a field. */
function mergeFields(before: JsonObject, after: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...before, ...after }).filter(([, value]) => value !== null));
}

function pick(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]));
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function refuse(errors: FieldError[]): never {
  throw new ApiError('INVALID_AUTHORIZATION_DETAILS', 'The authorization details do not match the connection.', {
    errors,
  });
}
