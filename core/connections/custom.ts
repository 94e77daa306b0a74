import type { CustomProviderRow, EnvironmentId, Repositories, Transaction } from '../../db/store.ts';
import { disconnectAccount } from '../accounts/remove-account.ts';
import { STORED } from '../budgets.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { checkAuthPatterns } from '../connectors/check-patterns.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { Vault } from '../vault/vault.ts';
import { deleteToolsOf } from './delete-tools.ts';
import { freeIdentifier } from './free-identifier.ts';
import { accountsOf, adaptToProvider, type Consequences, type ProviderChangeDeps } from './provider-change.ts';
import type { CustomProviderDefinition } from './providers.ts';
import { toProvider } from './providers.ts';
import { carryPublished } from './published-config.ts';

/**
 * The fields of a request that creates or updates a provider. In an update, `null` clears a field and an omitted field
 * stays.
 */
export type CustomProviderInput = {
  [Key in keyof CustomProviderDefinition]?: CustomProviderDefinition[Key] | null | undefined;
};

export interface CustomProviderDeps extends Omit<ProviderChangeDeps, 'newId'> {
  catalogue: Catalogue;
  vault: Vault;
  newId(prefix: 'prv'): string;
  /** Returns why the egress policy would always reject an address; null if it may be called. */
  checkAddress(url: string): string | null;
}

const EMPTY: CustomProviderDefinition = {
  display_name: '',
  description: '',
  icon_src: '',
  metadata: {},
  proxy_enabled: false,
  proxy_url: '',
  auth_patterns: [],
};

/**
 * @throws ApiError INVALID_AUTH_PATTERN, VALIDATION_FAILED
 */
export async function createCustomProvider(
  tx: Repositories,
  deps: CustomProviderDeps,
  environmentId: EnvironmentId,
  input: CustomProviderInput,
): Promise<CustomProviderRow> {
  const definition = merge(EMPTY, input);
  check(definition, deps);
  await requireSpace(tx, environmentId, null, definition);
  const identifier = await freeIdentifier(tx, deps.catalogue, environmentId, definition.display_name);
  const at = deps.now();
  await tx.customProviders.insert(environmentId, {
    id: deps.newId('prv'),
    identifier,
    definition,
    isMcp: speaksMcp(definition),
    createdAt: at,
    updatedAt: at,
  });
  return (await tx.customProviders.get(environmentId, identifier)) as CustomProviderRow;
}

/**
 * Changes a provider and adapts its connections and accounts.
 *
 * @throws ApiError INVALID_AUTH_PATTERN, VALIDATION_FAILED; PROVIDER_IN_USE, as `adaptToProvider`
 */
export async function updateCustomProvider(
  tx: Transaction,
  deps: CustomProviderDeps,
  environmentId: EnvironmentId,
  row: CustomProviderRow,
  input: CustomProviderInput,
  cause: Cause,
): Promise<{ row: CustomProviderRow } & Consequences> {
  const before = row.definition as unknown as CustomProviderDefinition;
  const definition = carryPublished(before, merge(before, input));
  check(definition, deps);
  await requireSpace(tx, environmentId, before, definition);
  const consequences = isUsedTheSameWay(before, definition)
    ? NO_CONSEQUENCES
    : await adaptToProvider(tx, deps, environmentId, changeOf(row.identifier, before, definition), cause);
  const changes = { definition, isMcp: speaksMcp(definition), updatedAt: deps.now() };
  await tx.customProviders.update(environmentId, row.identifier, row.version, changes);
  return { row: (await tx.customProviders.get(environmentId, row.identifier)) as CustomProviderRow, ...consequences };
}

function changeOf(identifier: string, before: CustomProviderDefinition, now: CustomProviderDefinition) {
  return { before: toProvider(identifier, before), now: toProvider(identifier, now) };
}

/** Whether two definitions differ at most in values that do not affect calls: name, description, icon and metadata. */
function isUsedTheSameWay(a: CustomProviderDefinition, b: CustomProviderDefinition): boolean {
  const used = ({ proxy_enabled, proxy_url, auth_patterns }: CustomProviderDefinition) =>
    JSON.stringify([proxy_enabled, proxy_url, auth_patterns]);
  return used(a) === used(b);
}

/**
 * Permanently deletes a provider and its tools. Its accounts become DISCONNECTED, their credentials are revoked (threat
 * P5), and its connections are disabled.
 *
 * @returns how many accounts were disconnected
 */
export async function deleteCustomProvider(
  tx: Transaction,
  deps: CustomProviderDeps,
  environmentId: EnvironmentId,
  row: CustomProviderRow,
  cause: Cause,
): Promise<number> {
  let disconnected = 0;
  const at = deps.now();
  for await (const account of accountsOf(tx, environmentId, row.identifier)) {
    await disconnectAccount(tx, deps, account, `The provider ${row.identifier} was deleted.`, cause);
    disconnected += 1;
  }
  for (const connection of await tx.connections.listByProvider(environmentId, row.identifier)) {
    const off = { enabled: false, status: 'DRAFT' as const, updatedAt: at };
    await tx.connections.update(environmentId, connection.id, connection.version, off);
  }
  await deleteToolsOf(tx, environmentId, row.identifier);
  await tx.customProviders.delete(environmentId, row.identifier);
  return disconnected;
}

function merge(before: CustomProviderDefinition, input: CustomProviderInput): CustomProviderDefinition {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const changes = given.map(([key, value]) => [key, value ?? EMPTY[key as keyof CustomProviderDefinition]]);
  return { ...before, ...Object.fromEntries(changes) };
}

function check(definition: CustomProviderDefinition, deps: CustomProviderDeps): void {
  const { proxy_url: proxyUrl, proxy_enabled: proxyEnabled, auth_patterns: patterns } = definition;
  const errors: FieldError[] = [];
  if (proxyEnabled && !proxyUrl) errors.push({ field: 'proxy_url', message: 'is required when proxy_enabled is true' });
  // A placeholder is replaced by one host label or path segment, so any value can be used to check the rest of the
  // address.
  const check = (template: string) => deps.checkAddress(template.replace(/\{\{[^}]*\}\}/g, 'x'));
  const reason = proxyUrl ? check(proxyUrl) : null;
  if (reason) errors.push({ field: 'proxy_url', message: reason });
  if (errors.length > 0) throw new ApiError('VALIDATION_FAILED', 'The provider is invalid.', { errors });
  const patternErrors = checkAuthPatterns(patterns, { baseUrl: proxyUrl || undefined, checkHttp: check });
  patterns.forEach((pattern, index) => {
    if (!pattern.is_mcp || proxyUrl) return;
    const message = 'requires proxy_url, the URL of the MCP server';
    patternErrors.push({ field: `auth_patterns[${index}].is_mcp`, message });
  });
  if (patternErrors.length > 0) {
    throw new ApiError('INVALID_AUTH_PATTERN', 'An authentication pattern is invalid.', { errors: patternErrors });
  }
}

/** @param before null for a new provider */
async function requireSpace(
  tx: Repositories,
  environmentId: EnvironmentId,
  before: CustomProviderDefinition | null,
  definition: CustomProviderDefinition,
): Promise<void> {
  const growth = JSON.stringify(definition).length - (before === null ? 0 : JSON.stringify(before).length);
  if (growth <= 0) return;
  const { count, size } = await tx.customProviders.totals(environmentId);
  const { providers, providersBytes } = STORED;
  if ((before !== null || count < providers) && size + growth <= providersBytes) return;
  const limits = `at most ${providers} custom providers, with definitions of at most ${providersBytes} bytes in total`;
  throw new ApiError(
    'VALIDATION_FAILED',
    `The environment has reached its limit for custom providers: it can have ${limits}. Delete some that are not used.`,
  );
}

function speaksMcp(definition: CustomProviderDefinition): boolean {
  return definition.auth_patterns.some((pattern) => pattern.is_mcp);
}

const NO_CONSEQUENCES: Consequences = { parked: 0, withdrawn: 0 };
