import { isClientPattern } from '../authorization/roles.ts';
import type { AuthorizationType } from '../authorization/type.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { checkStaticDetails, isComplete } from '../connectors/static-details.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { FieldSecrecy } from './binding.ts';
import type { JsonObject } from './merge.ts';
import { isObject } from './merge.ts';

/** The object of `authorization_details` that carries the credentials. */
export type DetailsForm = 'oauth_token' | 'static_auth' | 'workspace_dwd' | 'trusted_idp';

/** `authorization_details`: one object under the name of its form, or nothing. */
export type Details = { [Form in DetailsForm]?: JsonObject };

/** Which forms a type takes. The first is the usual one. */
const FORMS: Record<AuthorizationType, readonly DetailsForm[]> = {
  OAUTH: ['oauth_token'],
  OAUTH_M2M: ['oauth_token', 'static_auth'],
  SMART_FHIR: ['oauth_token', 'static_auth'],
  BOARD_OAUTH1: ['oauth_token', 'static_auth'],
  API_KEY: ['static_auth'],
  BEARER_TOKEN: ['static_auth'],
  BASIC: ['static_auth'],
  BASIC_AUTH: ['static_auth'],
  CUSTOM: ['static_auth'],
  WORKSPACE_DWD: ['workspace_dwd'],
  TRUSTED_IDP: ['trusted_idp'],
  NO_AUTH: [],
};

/** The fields of each form that are no secrets: what the details operation may show. */
const PUBLIC_FIELDS: Record<Exclude<DetailsForm, 'static_auth'>, readonly string[]> = {
  oauth_token: ['scopes', 'domain'],
  workspace_dwd: ['subject', 'scopes', 'token_expires_at'],
  trusted_idp: ['db_user', 'access_key_id', 'expiry'],
};

const DETAILS_FIELD = 'connected_account.authorization_details';

/** The form in use, or null for no details at all. */
export function formOf(details: Details): DetailsForm | null {
  return (Object.keys(details)[0] as DetailsForm | undefined) ?? null;
}

/** The fields that `static_auth` carries; empty for any other form. */
export function staticFieldsIn(details: Details): JsonObject {
  return asObject(details.static_auth?.['details']);
}

/** Types of connection whose accounts may carry this form; used where a first account decides the type of its connection. */
export function typeTakes(type: AuthorizationType, form: DetailsForm): boolean {
  return FORMS[type].includes(form);
}

/**
 * Refuses details of a form that the type of the connection does not take.
 *
 * @param field how errors name the details
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS
 */
function checkForm(type: AuthorizationType, details: Details, field: string): void {
  const form = formOf(details);
  if (form === null || FORMS[type].includes(form)) return;
  const expected = FORMS[type].length > 0 ? `takes ${FORMS[type].join(' or ')}` : 'takes no credentials';
  refuse([{ field: `${field}.${form}`, message: `does not fit: a connection of type ${type} ${expected}` }]);
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
  if (pattern.type === 'NO_AUTH') return true;
  const form = formOf(details);
  // The client of the connection is all that a machine client needs, unless accounts are typed one of their own.
  if (form === null) return isClientPattern(pattern) && isComplete(pattern, {});
  const value = details[form] ?? {};
  if (form === 'oauth_token') return isText(value['access_token']) || isText(value['refresh_token']);
  if (form === 'workspace_dwd') return isText(value['subject']);
  if (form === 'trusted_idp') return isText(value['db_user']) || isServerless(apiConfig);
  const given = asObject(value['details']);
  return Object.keys(given).length > 0 && isComplete(pattern, given);
}

/** A serverless workgroup is named by the account's configuration; it needs no database user. */
function isServerless(apiConfig: JsonObject): boolean {
  return isText(apiConfig['workgroup_name']);
}

/**
 * A provisioned cluster needs a database user.
 *
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS
 */
function checkClusterUser(details: Details, apiConfig: JsonObject, field: string): void {
  const idp = details.trusted_idp;
  if (!idp || !isText(apiConfig['cluster_identifier']) || isText(idp['db_user'])) return;
  refuse([{ field: `${field}.trusted_idp.db_user`, message: 'is required for a provisioned cluster' }]);
}

/** What of each form the service alone uses: the interface has no place for it. */
const INTERNAL_FIELDS: Partial<Record<DetailsForm, readonly string[]>> = {
  oauth_token: ['token_secret'],
  trusted_idp: ['secret_access_key', 'session_token'],
};

/** The details as those who may read credentials see them. */
export function withoutInternals(details: Details): Details {
  const form = formOf(details);
  const hidden = form === null ? undefined : INTERNAL_FIELDS[form];
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
  if (form !== 'static_auth') return { [form]: pick(value, PUBLIC_FIELDS[form]) };
  const names = Object.keys(fields).filter((name) => fields[name] === 'public');
  return { static_auth: { details: pick(asObject(value['details']), names) } };
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
  checkClusterUser(details, apiConfig, DETAILS_FIELD);
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

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function refuse(errors: FieldError[]): never {
  throw new ApiError('INVALID_AUTHORIZATION_DETAILS', 'The authorization details do not fit the connection.', {
    errors,
  });
}
