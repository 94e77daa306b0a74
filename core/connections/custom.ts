import type { AccountRow, CustomProviderRow, EnvironmentId, Repositories } from '../../db/store.ts';
import { disconnectAccount } from '../accounts/leave.ts';
import { HOSTS_CHANGED } from '../accounts/write.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { checkAuthPatterns } from '../connectors/check-patterns.ts';
import { originsOf } from '../connectors/origins.ts';
import type { FieldError } from '../errors.ts';
import { ApiError } from '../errors.ts';
import type { Vault } from '../vault/vault.ts';
import type { CustomProviderDefinition } from './providers.ts';
import { findPattern, toProvider } from './providers.ts';

/** What a request says about a provider. On update `null` clears; what is left out stays. */
export type CustomProviderInput = {
  [Key in keyof CustomProviderDefinition]?: CustomProviderDefinition[Key] | null | undefined;
};

export interface CustomProviderTools {
  catalogue: Catalogue;
  vault: Vault;
  now(): number;
  newId(prefix: 'prv' | 'out'): string;
  /** Whether the egress policy could ever call an address; null when it could. */
  judgeAddress(url: string): string | null;
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

const PAGE = 500;

/**
 * @throws ApiError INVALID_AUTH_PATTERN, VALIDATION_FAILED
 */
export async function createCustomProvider(
  tx: Repositories,
  tools: CustomProviderTools,
  environmentId: EnvironmentId,
  input: CustomProviderInput,
): Promise<CustomProviderRow> {
  const definition = merge(EMPTY, input);
  check(definition, tools);
  const identifier = await freeIdentifier(tx, tools.catalogue, environmentId, definition.display_name);
  const at = tools.now();
  await tx.customProviders.insert(environmentId, {
    id: tools.newId('prv'),
    identifier,
    definition,
    isMcp: speaksMcp(definition),
    createdAt: at,
    updatedAt: at,
  });
  return (await tx.customProviders.get(environmentId, identifier)) as CustomProviderRow;
}

/**
 * Changes a provider. Accounts whose credentials were given for other hosts than the new ones are taken out of use.
 *
 * @returns the provider, and how many accounts were taken out of use
 * @throws ApiError INVALID_AUTH_PATTERN, VALIDATION_FAILED, PROVIDER_IN_USE when a type that has accounts would go
 */
export async function updateCustomProvider(
  tx: Repositories,
  tools: CustomProviderTools,
  environmentId: EnvironmentId,
  row: CustomProviderRow,
  input: CustomProviderInput,
): Promise<{ row: CustomProviderRow; parked: number }> {
  const definition = merge(row.definition as unknown as CustomProviderDefinition, input);
  check(definition, tools);
  let parked = 0;
  const provider = toProvider(row.identifier, definition);
  for await (const account of accountsOf(tx, environmentId, row.identifier)) {
    const pattern = findPattern(provider, account.authorizationType);
    if (!pattern) throw inUse(account.authorizationType);
    const origins = originsNow(definition, row.identifier, pattern, account);
    if (origins.join() === account.origins.join()) continue;
    const updatedAt = tools.now();
    if (account.credentialsSealed === null) {
      // Nothing that could be led astray: the account follows its provider.
      await tx.accounts.update(environmentId, account.id, account.version, { origins, updatedAt });
      continue;
    }
    const change = { status: 'PENDING_AUTH' as const, reason: HOSTS_CHANGED, updatedAt };
    if (await tx.accounts.setStatus(environmentId, account.id, ['ACTIVE'], change)) parked += 1;
  }
  const changes = { definition, isMcp: speaksMcp(definition), updatedAt: tools.now() };
  await tx.customProviders.update(environmentId, row.identifier, row.version, changes);
  return { row: (await tx.customProviders.get(environmentId, row.identifier)) as CustomProviderRow, parked };
}

/**
 * Deletes a provider for good, its tools with it. Its accounts become DISCONNECTED, their credentials are to be revoked
 * (threat P5), and its connections are switched off.
 *
 * @returns how many accounts were disconnected
 */
export async function deleteCustomProvider(
  tx: Repositories,
  tools: CustomProviderTools,
  environmentId: EnvironmentId,
  row: CustomProviderRow,
): Promise<number> {
  let disconnected = 0;
  const at = tools.now();
  for await (const account of accountsOf(tx, environmentId, row.identifier)) {
    await disconnectAccount(tx, tools, account, 'The provider was deleted.');
    disconnected += 1;
  }
  for (const connection of await tx.connections.listByProvider(environmentId, row.identifier)) {
    const off = { enabled: false, status: 'DRAFT' as const, updatedAt: at };
    await tx.connections.update(environmentId, connection.id, connection.version, off);
  }
  await tx.environmentTools.deleteByConnector(environmentId, row.identifier);
  await tx.customProviders.delete(environmentId, row.identifier);
  return disconnected;
}

async function* accountsOf(
  tx: Repositories,
  environmentId: EnvironmentId,
  provider: string,
): AsyncGenerator<AccountRow> {
  let afterSeq = 0;
  for (;;) {
    const rows = await tx.accounts.listByProvider(environmentId, provider, { afterSeq, limit: PAGE });
    yield* rows;
    if (rows.length < PAGE) return;
    afterSeq = rows.at(-1)?.seq ?? 0;
  }
}

/** Values that stand in addresses are no secrets, so the public part of the credentials holds them all. */
function originsNow(
  definition: CustomProviderDefinition,
  identifier: string,
  pattern: AuthPattern,
  account: AccountRow,
): string[] {
  const shown = (account.publicDetails?.['static_auth'] as { details?: Record<string, unknown> } | undefined)?.details;
  return originsOf(toProvider(identifier, definition), accountInputs(pattern, account.apiConfig, shown), pattern.type);
}

function merge(before: CustomProviderDefinition, input: CustomProviderInput): CustomProviderDefinition {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const changes = given.map(([key, value]) => [key, value ?? EMPTY[key as keyof CustomProviderDefinition]]);
  return { ...before, ...Object.fromEntries(changes) };
}

function check(definition: CustomProviderDefinition, tools: CustomProviderTools): void {
  const { proxy_url: proxyUrl, proxy_enabled: proxyEnabled, auth_patterns: patterns } = definition;
  const errors: FieldError[] = [];
  if (proxyEnabled && !proxyUrl) errors.push({ field: 'proxy_url', message: 'is required when proxy_enabled is true' });
  // A placeholder stands for one host label or path segment; any will do to judge the rest.
  const reason = proxyUrl ? tools.judgeAddress(proxyUrl.replace(/\{\{[^}]*\}\}/g, 'x')) : null;
  if (reason) errors.push({ field: 'proxy_url', message: reason });
  if (errors.length > 0) throw new ApiError('VALIDATION_FAILED', 'The provider cannot be used so.', { errors });
  const patternErrors = checkAuthPatterns(patterns, { baseUrl: proxyUrl || undefined });
  patterns.forEach((pattern, index) => {
    if (!pattern.is_mcp || proxyUrl) return;
    patternErrors.push({ field: `auth_patterns[${index}].is_mcp`, message: 'needs a proxy_url: the MCP endpoint' });
  });
  if (patternErrors.length > 0) {
    throw new ApiError('INVALID_AUTH_PATTERN', 'An authentication pattern is not usable.', { errors: patternErrors });
  }
}

function speaksMcp(definition: CustomProviderDefinition): boolean {
  return definition.auth_patterns.some((pattern) => pattern.is_mcp);
}

/** `Acme CRM` → `acme-crm`, then `acme-crm-2` and so on. */
async function freeIdentifier(
  tx: Repositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  displayName: string,
): Promise<string> {
  const plain = displayName.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug =
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 80)
      .replace(/^-|-$/g, '') || 'provider';
  for (let suffix = 1; ; suffix++) {
    const identifier = suffix === 1 ? slug : `${slug}-${suffix}`;
    if (!(await isTaken(tx, catalogue, environmentId, identifier))) return identifier;
  }
}

/**
 * Names of built-in connectors are taken. So are those of connections: a connection that a deleted provider has left behind must
 * not come to life with another one, and a connection of that name would stand in front of the provider as a connector.
 */
async function isTaken(
  tx: Repositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  identifier: string,
): Promise<boolean> {
  if (catalogue.connector(identifier)) return true;
  if (await tx.customProviders.get(environmentId, identifier)) return true;
  if (await tx.connections.byKeyId(environmentId, identifier)) return true;
  return (await tx.connections.listByProvider(environmentId, identifier)).length > 0;
}

function inUse(type: string): ApiError {
  return new ApiError('PROVIDER_IN_USE', `The provider has accounts of type ${type}; its pattern cannot be removed.`, {
    errors: [{ field: 'auth_patterns', message: `must keep a pattern of type ${type}` }],
  });
}
