import type { AccountRow, ConnectionRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Details } from '../accounts/authorization-details.ts';
import { type Definition, useViolation } from '../accounts/binding.ts';
import { staticFieldsIn } from '../accounts/details.ts';
import { findAccount } from '../accounts/find.ts';
import type { Selector } from '../accounts/selector.ts';
import { moduleOf } from '../authorization/registry.ts';
import { checkAllowedBase } from '../connections/allowed-addresses.ts';
import { findProvider, requirePattern } from '../connections/providers.ts';
import { connectionDisabled } from '../connections/unusable.ts';
import { accountInputs } from '../connectors/account-inputs.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { toolFits } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { type NamedFile, requireFiles, type StoredFiles } from '../contents/stored-files.ts';
import type { ToolDirectory } from '../discovery/directory.ts';
import { ApiError } from '../errors.ts';
import { type PreparedCall, prepareCall, withFiles } from '../tools/call.ts';
import { storedFileIds } from '../tools/file-input.ts';
import type { InputChecker } from '../tools/input.ts';
import { ownNameOf, RAW_CALL, type Tool } from '../tools/tool.ts';
import { accountContextOf } from './account-context.ts';
import type { ExecutionRequest } from './execution-request.ts';
import { accountNotActive, type ToolCallContext } from './next-action.ts';
import { checkedInput } from './own-input.ts';
import type { Planned } from './start.ts';

export interface PlanDeps {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
  toolInputs: InputChecker;
  /** Milliseconds UTC. */
  now(): number;
}

/** A permitted execution with a valid input. Nothing has been decrypted or sent. */
export interface ExecutionPlan extends Planned {
  call: PreparedCall;
  /** The stored files that the input names. */
  files: NamedFile[];
  /** The total size of the files in bytes; a file that is named twice counts twice. */
  filesBytes: number;
  allPages: boolean;
}

/**
 * Checks everything that can be checked before credentials are decrypted.
 *
 * @throws ApiError as `findAccount`; NOT_FOUND, ACCOUNT_NOT_ACTIVE, CONNECTION_DISABLED, TOOL_NOT_ALLOWED,
 * INVALID_TOOL_INPUT, INVALID_API_CONFIG, PROVIDER_HAS_NO_BASE_URL; UNSUPPORTED_CONNECTION_TYPE if the provider no
 * longer offers the account's type; SERVER_BUSY if the tool was added or changed after its input was checked
 */
export async function planExecution(
  read: ReadRepositories,
  deps: PlanDeps,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
): Promise<ExecutionPlan> {
  const { account, provider } = await findUsable(read, deps, environmentId, request.selector);
  const known = await deps.toolDirectory.find(read, environmentId, request.toolName);
  if (!known || !toolFits(known.tool, provider)) {
    throw new ApiError('NOT_FOUND', `The connector ${provider.identifier} has no tool ${request.toolName}.`);
  }
  const { tool, flagged, withheld, contentHash, inputHash } = known;
  if (withheld !== undefined) throw new ApiError('TOOL_NOT_ALLOWED', withheld);
  const connection = await requireConnection(read, account, ownNameOf(tool));
  if (flagged !== null) {
    throw new ApiError(
      'TOOL_NOT_ALLOWED',
      `An administrator must review a change of the tool ${tool.name} first: ${flagged}`,
    );
  }
  const pattern = requirePattern(provider, account.authorizationType, 'connector');
  requireBinding(account, connection, { provider, pattern });
  const call = prepareCall(
    {
      tool,
      provider,
      pattern,
      account: inputsOf(tool, pattern, account),
      toolInput: request.toolInput,
      ...(inputHash !== undefined && { checked: checkedInput(inputHash, request.ownInput) }),
      executionId: request.executionId,
    },
    deps.toolInputs,
  );
  const files = storedFileIds(tool, call.input);
  const filesBytes = files.length === 0 ? 0 : await requireFiles(read, environmentId, account, files, deps.now());
  const { allPages = false } = request;
  if (allPages && !tool.pagination) {
    const errors = [{ field: 'all_pages', message: 'is only allowed for tools with paged results' }];
    throw new ApiError('INVALID_TOOL_INPUT', `The results of ${tool.name} are not paged.`, { errors });
  }
  const ownTool = contentHash === undefined ? null : { name: ownNameOf(tool), contentHash };
  return { account, connection, provider, ownTool, call, files, filesBytes, allPages };
}

/** Returns the call of a plan including the stored files that it sends. */
export async function callWithFiles(
  { call, account, files }: ExecutionPlan,
  stored: { files: Pick<StoredFiles, 'load'> },
): Promise<PreparedCall> {
  return withFiles(call, await stored.files.load(account.environmentId, account, files));
}

/** Returns the data that determines what to do if the credential of a plan is rejected. */
export function partyOfPlan({ call: { pattern }, connection }: ExecutionPlan): ToolCallContext {
  return { pattern, connection };
}

/**
 * Returns the account that a call names, with its provider.
 *
 * @throws ApiError as `findAccount`; ACCOUNT_NOT_ACTIVE, also if the provider was deleted
 */
export async function findUsable(
  read: ReadRepositories,
  deps: Pick<PlanDeps, 'catalogue'>,
  environmentId: EnvironmentId,
  selector: Selector,
): Promise<{ account: AccountRow; provider: ProviderDefinition }> {
  const account = await findAccount(read, environmentId, selector);
  const { catalogue } = deps;
  const builtIn = catalogue.provider(account.provider);
  const provider = builtIn ?? (await findProvider(read, catalogue, environmentId, account.provider));
  if (!provider || account.status !== 'ACTIVE') {
    throw accountNotActive(account, await accountContextOf(read, catalogue, account));
  }
  return { account, provider };
}

/**
 * Checks that the provider's definition still uses the credential of an account as it did when the credential was
 * supplied. This check is a second safeguard: a change of a provider also takes the affected accounts out of use.
 *
 * @throws ApiError ACCOUNT_NOT_ACTIVE if the definition would use the credential in another way or at another address;
 * INVALID_API_CONFIG for a base URL that the connection does not allow
 */
export function requireBinding(account: AccountRow, connection: ConnectionRow, definition: Definition): void {
  const inputs = inputsOf({ generic: true }, definition.pattern, account);
  const errors = checkAllowedBase(connection, definition.provider, inputs);
  if (errors.length > 0) {
    const detail = `The connection ${connection.keyId} does not allow the base URL of the account.`;
    throw new ApiError('INVALID_API_CONFIG', detail, { errors });
  }
  if (account.credentialsSealed === null) return;
  const breach = useViolation(account, definition, inputs);
  if (breach === null) return;
  const parked = { ...account, status: 'PENDING_AUTH' as const, statusReason: breach };
  throw accountNotActive(parked, { pattern: definition.pattern, connection });
}

/**
 * Returns the connection of an account after checking that it is enabled and allows the tool.
 *
 * @throws ApiError CONNECTION_DISABLED, TOOL_NOT_ALLOWED
 */
export async function requireConnection(
  read: ReadRepositories,
  account: AccountRow,
  toolName: string,
): Promise<ConnectionRow> {
  const connection = (await read.connections.get(account.environmentId, account.connectionId)) as ConnectionRow;
  if (!connection.enabled) throw connectionDisabled(connection);
  if (connection.allowedTools && !connection.allowedTools.includes(toolName)) {
    const what = toolName === RAW_CALL ? `raw calls (the tool ${RAW_CALL})` : `the tool ${toolName}`;
    const detail = `The connection ${connection.keyId} does not allow ${what}. An administrator can add it to allowed_tools.`;
    throw new ApiError('TOOL_NOT_ALLOWED', detail);
  }
  return connection;
}

/**
 * Returns the account values that requests may contain: its configuration, the details that are not secret, and, unless
 * the tool is generic, the values that the account's authorization type adds.
 */
export function inputsOf(
  tool: Pick<Tool, 'generic'>,
  pattern: AuthPattern,
  { apiConfig, publicDetails }: AccountRow,
): AccountInputs {
  const inputs = accountInputs(pattern, apiConfig, staticFieldsIn((publicDetails ?? {}) as Details));
  const { callInputs } = moduleOf(pattern.type);
  return callInputs && !tool.generic ? callInputs.read(inputs, publicDetails) : inputs;
}
