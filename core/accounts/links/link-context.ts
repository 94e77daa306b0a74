import type { AccountRow, AuthRequestRow, ConnectionRow, EnvironmentRow, ReadRepositories } from '../../../db/store.ts';
import { isRecordSystem } from '../../authorization/roles.ts';
import { isBaseOpen } from '../../connections/allowed-addresses.ts';
import { findPattern, findProvider } from '../../connections/providers.ts';
import type { AuthField, AuthPattern } from '../../connectors/auth-pattern.ts';
import type { Catalogue } from '../../connectors/catalogue.ts';
import type { ProviderDefinition } from '../../connectors/provider.ts';
import { type Bound, bindTo, type FieldSecrecy } from '../binding.ts';
import type { Details } from '../details.ts';
import type { JsonObject } from '../merge.ts';
import { type Completion, completionOf, missingAccountFields } from './completion.ts';

/** A link that works, with all that it stands for, as it was read at one moment. */
export interface LinkContext {
  environment: EnvironmentRow;
  request: AuthRequestRow;
  account: AccountRow;
  connection: ConnectionRow;
  provider: ProviderDefinition;
  pattern: AuthPattern;
  completion: Completion;
  /** The settings of the account that a person has to fill in. */
  accountFields: AuthField[];
}

export interface ContextTools {
  catalogue: Catalogue;
  now(): number;
}

/**
 * Gathers what a request stands for.
 *
 * @returns undefined when it does not work any more: it has ended, its time is over, or what it was made for is gone or switched off
 */
export async function contextOf(
  read: ReadRepositories,
  tools: ContextTools,
  environment: EnvironmentRow,
  request: AuthRequestRow,
): Promise<LinkContext | undefined> {
  if (request.state !== 'OPEN' || request.expiresAt <= tools.now()) return undefined;
  const account = await read.accounts.get(environment.id, request.accountId);
  const connection = await read.connections.get(environment.id, request.connectionId);
  if (!account || !connection?.enabled || connection.status === 'DRAFT') return undefined;
  const provider = await findProvider(read, tools.catalogue, environment.id, connection.providerKey);
  const pattern = provider && findPattern(provider, account.authorizationType);
  const completion = pattern && completionOf(pattern);
  if (!provider || !pattern || !completion) return undefined;
  const accountFields = missingAccountFields(pattern, account.apiConfig);
  return { environment, request, account, connection, provider, pattern, completion, accountFields };
}

/**
 * What credentials of an account with these values would be bound to, by the provider's definition alone.
 *
 * @param fields from `fieldSecrecy`; none before anything was typed
 */
export function declaredBinding(
  { provider, pattern }: Pick<LinkContext, 'provider' | 'pattern'>,
  apiConfig: JsonObject,
  details: Details = {},
  fields: FieldSecrecy = {},
): Bound {
  return bindTo({ provider, pattern }, apiConfig, details, fields);
}

/** Whether credentials would go to the same places in the same way; what of them may be shown does not matter. */
export function isSameDestination(a: Bound, b: Bound): boolean {
  const destination = ({ origins, binding: { base, use, endpoints } }: Bound) =>
    JSON.stringify([origins, base, use, endpoints]);
  return destination(a) === destination(b);
}

/**
 * The address at which access is asked for, where it is not the same for every account of the provider, or a record system.
 *
 * @returns undefined while a value of the account is missing
 */
export function shownAddress({ provider, pattern, account }: LinkContext): string | undefined {
  if (!isRecordSystem(pattern) && !isBaseOpen(provider)) return undefined;
  return declaredBinding({ provider, pattern }, account.apiConfig).binding.base ?? undefined;
}
