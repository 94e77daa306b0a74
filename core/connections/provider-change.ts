import type { AccountRow, EnvironmentId, Transaction } from '../../db/store.ts';
import type { Details } from '../accounts/authorization-details.ts';
import { bindingViolation, bindTo, type Definition, exposedFields } from '../accounts/binding.ts';
import { staticFieldsIn } from '../accounts/details.ts';
import type { JsonObject } from '../accounts/merge.ts';
import { emitParked } from '../accounts/park.ts';
import type { RevocationDeps } from '../accounts/revocation-order.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { publicFieldsOf } from '../connectors/static-details.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import { withdrawClients } from './client-change.ts';
import { findPattern } from './providers.ts';

export type ProviderChangeDeps = RevocationDeps;

/** The definition of a provider before and after a change. */
export interface ProviderChange {
  before: ProviderDefinition;
  now: ProviderDefinition;
}

/** The effect of a provider's change on its connections and accounts. */
export interface Consequences {
  /** How many accounts were taken out of use. */
  parked: number;
  /** How many connections lost their client. */
  withdrawn: number;
}

/** The maximum number of accounts that are changed before other work can run on the event loop. */
const PAGE = 100;
/** The maximum number of accounts that an error names for one field. */
const MAX_NAMED = 10;

/**
 * Adapts the accounts and connections of a provider to its new definition: accounts may be taken out of use, and
 * connections may lose their client. Call it before the new definition is stored.
 *
 * @throws ApiError PROVIDER_IN_USE, as `adaptAccounts`
 */
export async function adaptToProvider(
  tx: Transaction,
  deps: ProviderChangeDeps,
  environmentId: EnvironmentId,
  change: ProviderChange,
  cause: Cause,
): Promise<Consequences> {
  const parked = await adaptAccounts(tx, deps, environmentId, change, cause);
  const withdrawn = await withdrawClients(tx, deps, environmentId, change.now, cause);
  return { parked, withdrawn };
}

/**
 * Adapts accounts and connections to a built-in connector that a new version of the program has changed. No API client
 * requested the change, so it cannot be rejected. Where `adaptToProvider` would reject a change, the affected accounts
 * are taken out of use instead.
 */
export async function adaptToCatalogue(
  tx: Transaction,
  deps: ProviderChangeDeps,
  environmentId: EnvironmentId,
  now: ProviderDefinition,
  cause: Cause,
): Promise<Consequences> {
  let parked = 0;
  for await (const account of accountsOf(tx, environmentId, now.identifier)) {
    const pattern = findPattern(now, account.authorizationType);
    const definition = pattern && { provider: now, pattern };
    const exposed = pattern === undefined ? [] : exposedFields(account, pattern);
    const reason = definition === undefined ? typeGone(account) : exposed.length > 0 ? fieldsOpened(exposed) : null;
    if (await adapt(tx, deps, account, definition, cause, reason)) parked += 1;
  }
  return { parked, withdrawn: await withdrawClients(tx, deps, environmentId, now, cause) };
}

function typeGone({ provider, authorizationType }: AccountRow): string {
  return `The provider ${provider} no longer offers the type ${authorizationType}. Create an account of another type.`;
}

function fieldsOpened(names: readonly string[]): string {
  return `The provider now shows ${names.join(', ')}, which was secret when the account was connected.`;
}

/**
 * Adapts the accounts of a provider to its new definition. An account is taken out of use if its credential would be
 * sent elsewhere or in another way. A field that becomes secret is no longer shown. A field that was secret never
 * becomes public.
 *
 * @returns how many accounts were taken out of use
 * @throws ApiError PROVIDER_IN_USE if the provider no longer offers a type that accounts have, or if a field would
 * become public that accounts store as a secret
 */
async function adaptAccounts(
  tx: Transaction,
  deps: ProviderChangeDeps,
  environmentId: EnvironmentId,
  { before, now: provider }: ProviderChange,
  cause: Cause,
): Promise<number> {
  const exposed = new Map<string, string[]>();
  let parked = 0;
  for await (const account of accountsOf(tx, environmentId, provider.identifier)) {
    const pattern = findPattern(provider, account.authorizationType);
    if (!pattern) throw typeInUse(account.authorizationType);
    const held =
      account.credentialsSealed === null ? [] : exposedFields(account, pattern, findPattern(before, pattern.type));
    for (const name of held) {
      const place = fieldPlace(provider, account.authorizationType, name);
      exposed.set(place, [...(exposed.get(place) ?? []), account.id]);
    }
    if (exposed.size > 0) continue;
    if (await adapt(tx, deps, account, { provider, pattern }, cause)) parked += 1;
  }
  if (exposed.size > 0) throw secretsExposed(exposed);
  return parked;
}

/**
 * Adapts one account to the new definition of its provider.
 *
 * @param definition undefined if the provider no longer offers the type of the account
 * @param reason why an active account is to be taken out of use in any case
 * @returns whether the account was taken out of use
 */
async function adapt(
  tx: Transaction,
  { now, events }: ProviderChangeDeps,
  account: AccountRow,
  definition: Definition | undefined,
  cause: Cause,
  reason: string | null = null,
): Promise<boolean> {
  const { environmentId, id, version, status } = account;
  if (account.credentialsSealed === null && definition) {
    // The account has no credentials that could be sent elsewhere, so it takes over the new binding.
    const bound = bindTo(definition, account.apiConfig, {}, {});
    if (isBoundSo(account, bound)) return false;
    await tx.accounts.update(environmentId, id, version, { ...bound, updatedAt: now() });
    return false;
  }
  const breach = reason ?? (definition ? bindingViolation(account, definition) : null);
  const parks = breach !== null && status === 'ACTIVE';
  const shown = definition && stillShown(account, definition);
  if (!parks && shown === undefined) return false;
  await tx.accounts.update(environmentId, id, version, {
    ...(parks && { status: 'PENDING_AUTH' as const, statusReason: breach, requiredScopes: null }),
    ...(shown && { publicDetails: shown }),
    updatedAt: now(),
  });
  if (parks) await emitParked(tx, events, account, breach, cause);
  return parks;
}

function isBoundSo({ origins, binding }: AccountRow, bound: Pick<AccountRow, 'origins' | 'binding'>): boolean {
  return JSON.stringify([origins, binding]) === JSON.stringify([bound.origins, bound.binding]);
}

/**
 * Returns the public details of an account without the fields that have become secret; undefined if they contain no
 * such field.
 */
function stillShown({ publicDetails }: AccountRow, { pattern }: Definition): JsonObject | undefined {
  const details = staticFieldsIn((publicDetails ?? {}) as Details);
  const shown = publicFieldsOf(pattern);
  const kept = Object.entries(details).filter(([name]) => shown.has(name));
  if (kept.length === Object.keys(details).length) return undefined;
  return { static_auth: { details: Object.fromEntries(kept) } };
}

export async function* accountsOf(
  tx: Transaction,
  environmentId: EnvironmentId,
  provider: string,
): AsyncGenerator<AccountRow> {
  let afterSeq = 0;
  for (;;) {
    const rows = await tx.accounts.listByProvider(environmentId, provider, { afterSeq, limit: PAGE });
    yield* rows;
    if (rows.length < PAGE) return;
    afterSeq = rows.at(-1)?.seq ?? 0;
    await tx.yieldToEventLoop();
  }
}

/** Returns the path of a field in the request body. */
function fieldPlace({ authPatterns }: ProviderDefinition, type: string, name: string): string {
  const index = authPatterns.findIndex((pattern) => pattern.type === type);
  const field = authPatterns[index]?.fields?.findIndex((one) => one.field_name === name) ?? -1;
  return field === -1 ? `auth_patterns[${index}]` : `auth_patterns[${index}].fields[${field}].input_type`;
}

function typeInUse(type: string): ApiError {
  return new ApiError('PROVIDER_IN_USE', `The provider has accounts of type ${type}; its pattern cannot be removed.`, {
    errors: [{ field: 'auth_patterns', message: `must keep a pattern of type ${type} while accounts have it` }],
  });
}

function secretsExposed(exposed: ReadonlyMap<string, readonly string[]>): ApiError {
  const errors = [...exposed].map(([field, ids]) => {
    const named = ids.slice(0, MAX_NAMED).join(', ');
    const more = ids.length > MAX_NAMED ? ' and others' : '';
    const accounts = ids.length === 1 ? '1 account holds' : `${ids.length} accounts hold`;
    return { field, message: `must stay secret: ${accounts} a secret value of this field (${named}${more})` };
  });
  const message = 'The change would make a field public that accounts have secret values for.';
  return new ApiError('PROVIDER_IN_USE', message, { errors });
}
