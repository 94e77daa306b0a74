import { hash } from 'node:crypto';
import type { AccountBinding, AccountRow } from '../../db/store.ts';
import { staticFieldsOf } from '../authorization/fields.ts';
import { isClientPattern } from '../authorization/roles.ts';
import { bindClient } from '../connections/client-binding.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import { isAtOrBelow } from '../connectors/address-scope.ts';
import { type AuthPattern, isSecretField } from '../connectors/auth-pattern.ts';
import { baseTemplateOf, baseUrlOf } from '../connectors/base-url.ts';
import { credentialUse } from '../connectors/credential-use.ts';
import { originsOf } from '../connectors/origins.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { publicFieldsOf } from '../connectors/static-details.ts';
import { ApiError } from '../errors.ts';
import type { Details } from './authorization-details.ts';
import { publicPart, staticFieldsIn } from './details.ts';
import type { JsonObject } from './merge.ts';
import { areEndpointsCovered, tokenDirectories } from './token-endpoints.ts';

/** For each static field of a credential (a field of `static_auth.details`): whether its value may be shown. */
export type FieldSecrecy = AccountBinding['fields'];

/**
 * What a credential may be used for: where and how it may be sent, and which of its fields may be shown. The encryption
 * of the credential authenticates these values, so the credential cannot be decrypted if one of them was changed.
 */
export interface Bound {
  origins: string[];
  binding: AccountBinding;
}

/** The binding of an account that has no credential. */
export const UNBOUND: AccountBinding = { base: null, use: '', fields: {}, issued: null, endpoints: [] };

/** A provider and the one of its authorization patterns that an account uses. */
export interface Definition {
  provider: ProviderDefinition;
  pattern: AuthPattern;
}

/**
 * Returns the binding (see `Bound`) for a credential that is about to be stored.
 *
 * @param details the whole credential, after any merge
 * @param fields from `fieldSecrecy`
 */
export function bindTo(definition: Definition, apiConfig: JsonObject, details: Details, fields: FieldSecrecy): Bound {
  const { provider, pattern } = definition;
  const inputs = inputsOf(definition, apiConfig, publicPart(details, fields));
  return {
    origins: originsOf(provider, inputs, pattern.type),
    binding: {
      base: baseOf(provider, inputs),
      use: useOf(definition, fields),
      fields,
      issued: null,
      endpoints: tokenDirectories(definition, inputs),
    },
  };
}

/**
 * Returns for each static field of a credential whether its value may be shown. It may be shown only if the pattern
 * declares the field public now, and did so when the value was stored.
 *
 * @param details the whole credential
 * @param carried the stored secrecy of the fields that the request does not contain, from `carriedOver`
 */
export function fieldSecrecy(pattern: AuthPattern, details: Details, carried: FieldSecrecy = {}): FieldSecrecy {
  const shown = publicFieldsOf(pattern);
  const names = Object.keys(staticFieldsIn(details)).sort();
  const isPublic = (name: string) => shown.has(name) && (!Object.hasOwn(carried, name) || carried[name] === 'public');
  return Object.fromEntries(names.map((name) => [name, isPublic(name) ? 'public' : 'secret']));
}

/** Returns the stored secrecy of the fields that a change does not contain. */
export function carriedOver(stored: FieldSecrecy, change: Details): FieldSecrecy {
  const entered = staticFieldsIn(change);
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !Object.hasOwn(entered, name)));
}

export const HOSTS_CHANGED = 'The hosts of the provider have changed since the account was connected.';
const BASE_CHANGED = 'The base URL of the provider has changed since the account was connected.';
const ENDPOINTS_CHANGED = 'The OAuth endpoints of the provider have changed since the account was connected.';
const USE_CHANGED = 'The provider now expects the credential in a different place than when the account was connected.';

/**
 * The columns of an account that record what its credential may be used for, and the account values that determine how
 * it would be used now.
 */
export type BoundAccount = Pick<AccountRow, 'origins' | 'binding' | 'apiConfig' | 'publicDetails'>;

/**
 * Compares what the credential of an account may be used for with how it would be used now: its hosts, OAuth endpoints,
 * base URL and place in requests.
 *
 * @param change the new values of an update of the account that is not stored yet
 * @returns why the credential must not be used any more, as a sentence; null if the present use of the credential is
 * within what it may be used for
 */
export function bindingViolation(
  account: BoundAccount,
  definition: Definition,
  change: { apiConfig?: JsonObject; shown?: Details } = {},
): string | null {
  const { apiConfig = account.apiConfig, shown = (account.publicDetails ?? {}) as Details } = change;
  const inputs = inputsOf(definition, apiConfig, shown);
  const origins = originsOf(definition.provider, inputs, definition.pattern.type);
  if (origins.some((origin) => !account.origins.includes(origin))) return HOSTS_CHANGED;
  if (!areEndpointsCovered(account.binding.endpoints, definition, inputs)) return ENDPOINTS_CHANGED;
  return breachBelow(account, definition, baseOf(definition.provider, inputs));
}

/**
 * Compares, like `bindingViolation`, what the credential may be used for with how a single call would use it. It does
 * not check OAuth endpoints, which a call does not use, or origins: the egress policy rejects a call to an origin that
 * the account was not connected for.
 *
 * @param inputs the account values that addresses may contain
 */
export function useViolation(account: BoundAccount, definition: Definition, inputs: AccountInputs): string | null {
  const base = baseOf(definition.provider, inputs);
  if (base === null || !account.origins.includes(new URL(base).origin)) return null;
  return breachBelow(account, definition, base);
}

function breachBelow({ binding }: BoundAccount, definition: Definition, base: string | null): string | null {
  if (!isCovered(base, binding.base, baseTemplateOf(definition.provider))) return isMoved(base, binding.base);
  return useOf(definition, binding.fields) === binding.use ? null : USE_CHANGED;
}

/**
 * Returns a text that is equal for two definitions if they use a credential in the same way. For an OAuth client that
 * was entered for one account, it includes the binding that the client of a connection would have.
 */
function useOf({ provider, pattern }: Definition, fields: FieldSecrecy): string {
  const names = Object.keys(fields);
  const use = credentialUse(pattern, names);
  if (names.length === 0 || !isClientPattern(pattern)) return use;
  const { method, audience, within } = bindClient(provider, pattern, null);
  return hash('sha256', JSON.stringify([use, method, audience, within]), 'base64url');
}

/**
 * Returns the secret fields of an account that a changed pattern would expose. These are fields that the new pattern
 * declares public, and fields whose form input was hidden in the old pattern and is visible in the new one, because the
 * form would then show what the user types.
 *
 * @param before the pattern that is replaced, if there is one
 */
export function exposedFields(
  { binding }: Pick<AccountRow, 'binding'>,
  now: AuthPattern,
  before?: AuthPattern,
): string[] {
  const shown = publicFieldsOf(now);
  const inputs = (pattern: AuthPattern | undefined) =>
    new Map((pattern ? staticFieldsOf(pattern) : []).map((field) => [field.field_name, isSecretField(field)]));
  const [hiddenNow, hiddenBefore] = [inputs(now), inputs(before)];
  const isExposed = (name: string) =>
    shown.has(name) || (hiddenBefore.get(name) === true && hiddenNow.get(name) === false);
  return Object.keys(binding.fields).filter((name) => binding.fields[name] === 'secret' && isExposed(name));
}

function isCovered(now: string | null, bound: string | null, template: string | undefined): boolean {
  return now === null || bound === null ? now === bound : isAtOrBelow(now, bound, template);
}

function isMoved(now: string | null, bound: string | null): string {
  const sameHost = now !== null && bound !== null && new URL(now).origin === new URL(bound).origin;
  return sameHost ? BASE_CHANGED : HOSTS_CHANGED;
}

function inputsOf({ pattern }: Definition, apiConfig: JsonObject, shown: Details): AccountInputs {
  return accountInputs(pattern, apiConfig, staticFieldsIn(shown));
}

function baseOf(provider: ProviderDefinition, inputs: AccountInputs): string | null {
  try {
    return baseUrlOf(provider, inputs);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
