import type { AccountRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { resolveConnector } from '../connections/resolve.ts';
import { ApiError } from '../errors.ts';
import type { AccountKey, AccountName, Selector } from './selector.ts';

/**
 * Finds the account that a request names.
 *
 * @throws ApiError NOT_FOUND, also when an id is given and another field does not agree with it; AMBIGUOUS_CONNECTOR;
 *   INCOMPLETE_ACCOUNT_KEY when the key fits several accounts
 */
export async function findAccount(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  selector: Selector,
): Promise<AccountRow> {
  const account =
    selector.by === 'id'
      ? await findById(read, environmentId, selector.id, selector.agreeing)
      : await findByKey(read, environmentId, selector.key);
  if (!account) throw accountNotFound();
  return account;
}

export function accountNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'There is no such connected account.');
}

async function findById(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  id: string,
  name: AccountName,
): Promise<AccountRow | undefined> {
  const account = await read.accounts.get(environmentId, id);
  if (!account) return undefined;
  const agrees =
    (name.identifier === undefined || name.identifier === account.identifier) &&
    (name.organization_id === undefined || name.organization_id === account.organizationId) &&
    (name.user_id === undefined || name.user_id === account.userId) &&
    (await isItsConnector(read, environmentId, account, name.connector));
  return agrees ? account : undefined;
}

/** A provider's name stands for each of its connections, unless it is the name of one of them. */
async function isItsConnector(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  account: AccountRow,
  connector: string | undefined,
): Promise<boolean> {
  if (connector === undefined || connector === account.connector) return true;
  return connector === account.provider && !(await read.connections.byKeyId(environmentId, connector));
}

async function findByKey(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  key: AccountKey,
): Promise<AccountRow | undefined> {
  const connection = await resolveConnector(read, environmentId, key.connector);
  if (!connection) return undefined;
  const { identifier, organizationId, userId } = key;
  const found = await read.accounts.byKey(environmentId, {
    connectionId: connection.id,
    identifier,
    ...(organizationId !== undefined && { organizationId }),
    ...(userId !== undefined && { userId }),
  });
  if (found.length > 1) {
    throw new ApiError('INCOMPLETE_ACCOUNT_KEY', 'Several accounts fit; give organization_id and user_id, or the id.');
  }
  return found[0];
}
