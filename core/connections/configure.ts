import type { ConnectionRow, EnvironmentRow, JsonObject, Transaction } from '../../db/store.ts';
import { UniqueError } from '../../db/store.ts';
import { revokeObtained } from '../accounts/remove-account.ts';
import type { ToolDirectory } from '../discovery/directory.ts';
import { writeWithinSpace } from '../environments/within-space.ts';
import { ApiError } from '../errors.ts';
import type { Events } from '../events/events.ts';
import type { JobQueue } from '../jobs/queue.ts';
import type { Vault } from '../vault/vault.ts';
import { type ConnectionInput, checkInput } from './check-input.ts';
import { firstClient } from './client-binding.ts';
import type { ClientColumns } from './client-secret.ts';
import { connectionSpace } from './connection-space.ts';
import { findPattern, findProvider, requirePattern } from './providers.ts';
import type { ConnectionDeps } from './resolve.ts';
import { unknownProvider } from './resolve.ts';
import { clientColumns, NO_CLIENT } from './set-client.ts';
import { statusOf } from './status.ts';

export interface NewConnectionInput extends ConnectionInput {
  key_id?: string | undefined;
  connector: string;
  type?: string | undefined;
}

export interface ConfigurationDeps extends ConnectionDeps {
  vault: Vault;
  toolDirectory: ToolDirectory;
  events: Events;
  jobQueue: JobQueue;
  newId(prefix: 'conn'): string;
}

/** Types of connections for single sign-on, which this API does not offer. */
const SIGN_IN_TYPES = new Set(['OIDC', 'SAML', 'PASSWORD', 'PASSWORDLESS', 'WEBAUTHN']);

/**
 * Creates a connection to a provider.
 *
 * @throws ApiError UNKNOWN_CONNECTOR, UNSUPPORTED_CONNECTION_TYPE, VALIDATION_FAILED, CONNECTION_EXISTS
 */
export async function createConnection(
  tx: Transaction,
  deps: ConfigurationDeps,
  environment: EnvironmentRow,
  input: NewConnectionInput,
): Promise<ConnectionRow> {
  const provider = await findProvider(tx, deps.catalogue, environment.id, input.connector);
  if (!provider) throw unknownProvider(input.connector);
  const type = input.type ?? provider.authPatterns[0]?.type ?? '';
  if (SIGN_IN_TYPES.has(type)) {
    throw new ApiError(
      'UNSUPPORTED_CONNECTION_TYPE',
      `Connections of type ${type} are for user sign-in and are not supported.`,
      {
        errors: [{ field: 'type', message: 'is a type for user sign-in, not for authorization' }],
      },
    );
  }
  const pattern = requirePattern(provider, type, 'type');
  const definition = { provider, pattern };
  const id = deps.newId('conn');
  const unset = { ...NO_CLIENT, environmentId: environment.id, id };
  await checkInput(tx, deps, environment, provider, definition, unset, input);
  const at = deps.now();
  const settings = {
    ...columnsOf(input, {}),
    ...firstClient(definition, input.allowed_addresses ?? null),
    ...clientColumns(deps.vault, unset, definition, input),
  };
  const keyId = input.key_id ?? provider.identifier;
  try {
    await writeWithinSpace(connectionSpace(tx, environment.id), () =>
      tx.connections.insert(environment.id, {
        verificationMode: 'REQUIRED',
        ...settings,
        id,
        keyId,
        providerKey: provider.identifier,
        type,
        status: statusOf({ ...NO_CLIENT, ...settings }, definition, isProduction(environment), false),
        createdAt: at,
        updatedAt: at,
      }),
    );
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    const detail = `The environment already has a connection ${keyId}. Choose another key_id, or update that connection.`;
    throw new ApiError('CONNECTION_EXISTS', detail, { cause: error });
  }
  return (await tx.connections.get(environment.id, id)) as ConnectionRow;
}

/**
 * Changes the settings that a request contains, and the status that results from them. If the request contains the
 * client or the scopes, tokens that Valetkey obtained with the previous ones are removed and revoked.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export async function updateConnection(
  tx: Transaction,
  deps: ConfigurationDeps,
  environment: EnvironmentRow,
  connection: ConnectionRow,
  input: ConnectionInput,
): Promise<ConnectionRow> {
  const provider = await findProvider(tx, deps.catalogue, environment.id, connection.providerKey);
  const pattern = provider && findPattern(provider, connection.type);
  const definition = provider && pattern && { provider, pattern };
  await checkInput(tx, deps, environment, provider, definition, connection, input);
  const settings = {
    ...columnsOf(input, connection.settings),
    ...clientColumns(deps.vault, connection, definition, input),
  };
  const hasBeenUsed = connection.status === 'COMPLETED' || (await hasActiveAccount(tx, environment, connection));
  const status = definition
    ? statusOf({ ...connection, ...settings }, definition, isProduction(environment), hasBeenUsed)
    : 'DRAFT';
  // Tokens that Valetkey obtained with the old settings are removed. Tokens that users granted are kept.
  const gives = OBTAINED_WITH.some((name) => input[name] !== undefined);
  const rotates = isRotation(connection, input);
  if (gives && !rotates) await revokeObtained(tx, deps, environment.id, connection.id);
  const changes = { ...settings, status, updatedAt: deps.now() };
  await writeWithinSpace(connectionSpace(tx, environment.id), () =>
    tx.connections.update(environment.id, connection.id, connection.version, changes),
  );
  if (gives && rotates) await revokeObtained(tx, deps, environment.id, connection.id);
  return (await tx.connections.get(environment.id, connection.id)) as ConnectionRow;
}

/** The settings with which Valetkey obtains tokens itself: for machine clients, service accounts and cloud roles. */
const OBTAINED_WITH = ['client_id', 'client_secret', 'scopes'] as const;

/**
 * Whether the same client gets a new secret. Then revocations must use the new secret, because the provider may no
 * longer accept the old secret.
 */
function isRotation({ clientId }: ConnectionRow, { client_id: id = clientId, client_secret: secret }: ConnectionInput) {
  return id === clientId && typeof secret === 'string';
}

async function hasActiveAccount(
  tx: Transaction,
  environment: EnvironmentRow,
  connection: ConnectionRow,
): Promise<boolean> {
  const page = await tx.accounts.list(environment.id, { connectionId: connection.id, status: 'ACTIVE' }, { size: 1 });
  return page.rows.length > 0;
}

function columnsOf(input: ConnectionInput, stored: ConnectionRow['settings']) {
  const columns: JsonObject = {};
  const set = (name: string, value: unknown, cleared: unknown) => {
    if (value !== undefined) columns[name] = value ?? cleared;
  };
  set('organizationId', input.organization_id, '');
  set('organizationName', input.organization_name, '');
  set('domains', input.domains, []);
  set('enabled', input.enabled, true);
  set('clientId', input.client_id, null);
  set('scopes', input.scopes, []);
  set('allowedTools', input.allowed_tools, null);
  set('allowedAddresses', input.allowed_addresses, null);
  set('mcpTimeoutSeconds', input.mcp_timeout_seconds, null);
  if (input.send_trace_context !== undefined) {
    columns['settings'] = { ...stored, sendTraceContext: input.send_trace_context };
  }
  set('verificationMode', input.verification_mode, 'REQUIRED');
  set('postUserVerifyRedirectUrl', input.post_user_verify_redirect_url, null);
  return columns as Partial<Omit<ConnectionRow, keyof ClientColumns | ConnectionIdentity>>;
}

type ConnectionIdentity = 'id' | 'environmentId' | 'version' | 'createdAt' | 'updatedAt';

function isProduction({ kind }: EnvironmentRow): boolean {
  return kind === 'PRODUCTION';
}
