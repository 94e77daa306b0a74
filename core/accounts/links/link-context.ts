import type { AccountRow, AuthRequestRow, ConnectionRow, EnvironmentRow, ReadRepositories } from '../../../db/store.ts';
import { isRecordSystem } from '../../authorization/roles.ts';
import { isBaseOpen } from '../../connections/allowed-addresses.ts';
import { findPattern, findProvider } from '../../connections/providers.ts';
import type { AuthField, AuthPattern } from '../../connectors/auth-pattern.ts';
import type { Catalogue } from '../../connectors/catalogue.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import type { Details } from '../authorization-details.ts';
import { type Bound, bindTo, type FieldSecrecy } from '../binding.ts';
import type { JsonObject } from '../merge.ts';
import { type Completion, completionOf, missingAccountFields } from './completion.ts';

/** A usable link with everything that it refers to, as it was read at one moment. */
export interface LinkContext {
  environment: EnvironmentRow;
  request: AuthRequestRow;
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  completion: Completion;
  /** The settings of the account that the user must enter. */
  accountFields: AuthField[];
}

export interface ContextDeps {
  catalogue: Catalogue;
  now(): number;
}

/**
 * Reads everything that a request refers to.
 *
 * @returns undefined if the link cannot be used: it has ended or expired, its account, connection or provider was
 * deleted or disabled, or the connection or the provider does not support links any more
 */
export async function contextOf(
  read: ReadRepositories,
  deps: ContextDeps,
  environment: EnvironmentRow,
  request: AuthRequestRow,
): Promise<LinkContext | undefined> {
  if (request.state !== 'OPEN' || request.expiresAt <= deps.now()) return undefined;
  const account = await read.accounts.get(environment.id, request.accountId);
  const connection = await read.connections.get(environment.id, request.connectionId);
  if (!account || !connection?.enabled || connection.status === 'DRAFT') return undefined;
  const provider = await findProvider(read, deps.catalogue, environment.id, connection.providerKey);
  const pattern = provider && findPattern(provider, account.authorizationType);
  const completion = pattern && completionOf(pattern);
  if (!provider || !pattern || !completion) return undefined;
  const accountFields = missingAccountFields(pattern, account.apiConfig);
  return { environment, request, account, connection, provider, pattern, completion, accountFields };
}

/**
 * Returns what the credentials of an account with these values would be bound to, according to the provider's
 * definition only.
 *
 * @param fields from `fieldSecrecy`; omitted before the user has entered anything
 */
export function declaredBinding(
  { provider, pattern }: Pick<LinkContext, 'provider' | 'pattern'>,
  apiConfig: JsonObject,
  details: Details = {},
  fields: FieldSecrecy = {},
): Bound {
  return bindTo({ provider, pattern }, apiConfig, details, fields);
}

/**
 * Whether two bindings send credentials to the same places in the same way. Which fields may be shown is not compared.
 */
export function isSameDestination(a: Bound, b: Bound): boolean {
  const destination = ({ origins, binding: { base, use, endpoints } }: Bound) =>
    JSON.stringify([origins, base, use, endpoints]);
  return destination(a) === destination(b);
}

/**
 * Returns the base URL of the account's site, to show the user where access is granted. It is shown only if it differs
 * between accounts of the provider, or for a health record system.
 *
 * @returns undefined if it is not shown, or while a value of the account is missing
 */
export function shownAddress({ provider, pattern, account }: LinkContext): string | undefined {
  if (!isRecordSystem(pattern) && !isBaseOpen(provider)) return undefined;
  return declaredBinding({ provider, pattern }, account.apiConfig).binding.base ?? undefined;
}
