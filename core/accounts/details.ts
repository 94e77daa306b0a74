import type { AccountBinding } from '../../db/store.ts';
import { formNamed, moduleOf } from '../authorization/registry.ts';
import { isClientPattern } from '../authorization/roles.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { checkStaticDetails, isComplete } from '../connectors/static-details.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { Details } from './authorization-details.ts';
import type { JsonObject } from './merge.ts';
import { isObject } from './merge.ts';

const DETAILS_FIELD = 'connected_account.authorization_details';

/**
 * Returns the form of the details: the name of their only member, for example `oauth_token`; null if there are no
 * details.
 */
export function formOf(details: Details): string | null {
  return Object.keys(details)[0] ?? null;
}

/** Returns the fields of `static_auth`; empty for any other form. */
export function staticFieldsIn(details: Details): JsonObject {
  return asObject(details.static_auth?.['details']);
}

/**
 * Whether accounts of this type may have details of this form. Used when the first account determines the type of its
 * connection.
 */
export function typeAccepts(type: AuthorizationType, form: string): boolean {
  return moduleOf(type).forms.some(({ name }) => name === form);
}

/**
 * Rejects details whose form the type of the connection does not allow.
 *
 * @param field the name of the details in errors
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS
 */
function checkForm(type: AuthorizationType, details: Details, field: string): void {
  const form = formOf(details);
  if (form === null || typeAccepts(type, form)) return;
  const names = moduleOf(type).forms.map(({ name }) => name);
  const expected = names.length > 0 ? `accepts only ${names.join(' or ')}` : 'accepts no credentials';
  refuse([{ field: `${field}.${form}`, message: `must not be set: a connection of type ${type} ${expected}` }]);
}

/** Checks the values by the rules of their form. @throws ApiError INVALID_AUTHORIZATION_DETAILS */
function checkValues(type: AuthorizationType, details: Details, apiConfig: JsonObject): void {
  const form = moduleOf(type).forms.find(({ name }) => name === formOf(details));
  const errors = form?.problemsOf?.(details[form.name] ?? {}, apiConfig) ?? [];
  if (errors.length === 0) return;
  refuse(errors.map(({ field, message }) => ({ field: `${DETAILS_FIELD}.${form?.name}.${field}`, message })));
}

/**
 * Merges a change into stored details. Only the fields that the change contains are changed, and `null` removes a
 * field. Within `static_auth.details` each field is merged separately. An empty change changes nothing. A change to
 * another form replaces the details.
 */
export function mergeDetails(current: Details, change: Details): Details {
  const form = formOf(change);
  if (form === null) return current;
  const before = current[form] ?? {};
  const after = change[form] ?? {};
  if (form === 'oauth_token' && after['access_token'] !== undefined) {
    // The stored secret belongs to the token that is being replaced.
    const { token_secret: _secret, ...rest } = before;
    return { oauth_token: mergeFields(rest, after) };
  }
  if (form !== 'static_auth') return { [form]: mergeFields(before, after) };
  return { static_auth: { details: mergeFields(asObject(before['details']), asObject(after['details'])) } };
}

/**
 * Whether the details suffice to make calls. Depending on the type they need a token, every required field, a subject
 * (the user that a service account acts for) or a database user. Types without credentials need nothing.
 *
 * @param pattern the pattern of the account: its type, and its fields for `static_auth`
 * @param apiConfig the account's configuration; it shows whether a database is a provisioned cluster or a serverless
 * workgroup
 */
export function areUsable(pattern: AuthPattern, details: Details, apiConfig: JsonObject): boolean {
  const { forms } = moduleOf(pattern.type);
  if (forms.length === 0) return true;
  const form = formOf(details);
  // Accounts that obtain their tokens with an OAuth client need no details: they use the client of the connection,
  // unless the pattern requires each account to have its own.
  if (form === null) return isClientPattern(pattern) && isComplete(pattern, {});
  const rules = forms.find(({ name }) => name === form);
  if (!rules?.isUsable(details[form] ?? {}, apiConfig)) return false;
  return form !== 'static_auth' || isComplete(pattern, staticFieldsIn(details));
}

/**
 * Returns the details that clients with the scope credentials:read receive: all fields except those that only Valetkey
 * uses.
 */
export function withoutInternals(details: Details): Details {
  const form = formOf(details);
  const hidden = form === null ? undefined : formNamed(form).internal;
  if (form === null || hidden === undefined) return details;
  return { [form]: Object.fromEntries(Object.entries(details[form] ?? {}).filter(([name]) => !hidden.includes(name))) };
}

/**
 * Returns the part of the details that clients without the scope credentials:read receive.
 *
 * @param fields which of the static fields may be shown, from `fieldSecrecy`
 */
export function publicPart(details: Details, fields: AccountBinding['fields']): Details {
  const form = formOf(details);
  if (form === null) return {};
  const value = details[form] ?? {};
  if (form !== 'static_auth') return { [form]: pick(value, formNamed(form).shown) };
  const names = Object.keys(fields).filter((name) => fields[name] === 'public');
  return { static_auth: { details: pick(asObject(value['details']), names) } };
}

/**
 * Returns the JSON Merge Patch (RFC 7396) that removes from the public details everything that Valetkey obtained for
 * accounts of a type.
 */
export function withoutObtained(type: AuthorizationType): JsonObject {
  const patches = moduleOf(type).forms.flatMap(({ name, obtained }) => {
    if (obtained === undefined) return [];
    return [[name, obtained === 'all' ? null : Object.fromEntries(obtained.map((field) => [field, null]))] as const];
  });
  return Object.fromEntries(patches);
}

/**
 * Checks details against the pattern of an account: the type must allow the form, the values must follow the rules of
 * the form, and the entered fields must match the fields of the pattern.
 *
 * @param details complete, after any merge
 * @param change the fields of the request; the values of stored static fields are not checked again, because the
 * pattern may have changed since
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS, naming each invalid field
 */
export function checkDetails(pattern: AuthPattern, details: Details, change: Details, apiConfig: JsonObject): void {
  checkForm(pattern.type, details, DETAILS_FIELD);
  checkValues(pattern.type, details, apiConfig);
  const given = staticFieldsIn(details);
  if (Object.keys(given).length === 0) return;
  const errors = checkStaticDetails(pattern, given, new Set(Object.keys(staticFieldsIn(change))));
  if (errors.length > 0) refuse(errors);
}

/** Merges one object into another; `null` removes a field. */
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
