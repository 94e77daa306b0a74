import type { AccountRow, AccountShownRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { resolveConnector } from '../connections/resolve.ts';
import { ApiError } from '../errors.ts';
import type { AccountName, Selector } from './selector.ts';

/**
 * Finds the account that a request names.
 *
 * @throws ApiError NOT_FOUND, also if the id exists but another field of the request does not match that account;
 * AMBIGUOUS_CONNECTOR; INCOMPLETE_ACCOUNT_KEY if several accounts match
 */
export async function findAccount(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  selector: Selector,
): Promise<AccountRow> {
  if (selector.by === 'key') return findByKey(read, environmentId, selector);
  return agreeing(read, environmentId, await read.accounts.get(environmentId, selector.id), selector.agreeing);
}

/** As {@link findAccount}, for callers that do not need the encrypted columns. */
export async function findShownAccount(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  selector: Selector,
): Promise<AccountShownRow> {
  if (selector.by === 'key') return findByKey(read, environmentId, selector);
  return agreeing(read, environmentId, await read.accounts.shown(environmentId, selector.id), selector.agreeing);
}

export function accountNotFound(): ApiError {
  const advice = 'Check its id, connector, identifier, organization_id and user_id.';
  return new ApiError('NOT_FOUND', `No connected account matches the request. ${advice}`);
}

/**
 * Checks that the other fields of the request match the account. Returns synchronously if nothing else must be read,
 * which is the usual case.
 */
function agreeing<Row extends AccountShownRow>(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  account: Row | undefined,
  name: AccountName,
): Row | Promise<Row> {
  const agrees =
    account !== undefined &&
    (name.identifier === undefined || name.identifier === account.identifier) &&
    (name.organization_id === undefined || name.organization_id === account.organizationId) &&
    (name.user_id === undefined || name.user_id === account.userId);
  if (!agrees) throw accountNotFound();
  if (name.connector === undefined || name.connector === account.connector) return account;
  return isItsProvider(read, environmentId, account, name.connector).then((isIt) => {
    if (!isIt) throw accountNotFound();
    return account;
  });
}

/**
 * Whether `connector` is the name of the account's provider. The name of a provider matches all its connections, unless
 * a connection has the same name.
 */
async function isItsProvider(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  account: AccountShownRow,
  connector: string,
): Promise<boolean> {
  return connector === account.provider && !(await read.connections.byKeyId(environmentId, connector));
}

async function findByKey(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  { key, connectionId: known }: Selector & { by: 'key' },
): Promise<AccountRow> {
  const { connector, identifier, organizationId, userId } = key;
  const connectionId = known ?? (await resolveConnector(read, environmentId, connector))?.id;
  if (connectionId === undefined) throw accountNotFound();
  const found = await read.accounts.byKey(environmentId, {
    connectionId,
    identifier,
    ...(organizationId !== undefined && { organizationId }),
    ...(userId !== undefined && { userId }),
  });
  if (found.length > 1) {
    throw new ApiError(
      'INCOMPLETE_ACCOUNT_KEY',
      'Several accounts match. Give both organization_id and user_id, or the id of the account.',
    );
  }
  const [account] = found;
  if (!account) throw accountNotFound();
  return account;
}
