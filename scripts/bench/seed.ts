import { createAccount } from '../../core/accounts/create-account.ts';
import { issueAccessToken } from '../../core/tokens/access-token.ts';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { readConfig } from '../../http/config/config.ts';
import { createApplication } from '../../wiring/create-application.ts';
import { newAccount } from './operations.ts';

export interface Seeded {
  accountIds: string[];
  /** The connection of the accounts. */
  connectionId: string;
  /** An access token of the client with all scopes, valid for an hour. */
  token: string;
}

const BATCH = 250;

/** Fills a new data directory with accounts, without HTTP: thousands of them per second. */
export async function seed(env: Record<string, string>, accounts: number): Promise<Seeded> {
  const { config, secrets } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const { parts, firstStart } = await createApplication(config, secrets);
  const { environment } = firstStart;
  const cause = { environmentId: environment.id, actor: 'system', requestId: '' };
  const accountIds: string[] = [];
  let connectionId = '';
  const create = (number: number) => {
    const { connected_account: input, connector, identifier, organization_id, user_id } = newAccount(nameOf(number));
    const key = { connector, identifier, organizationId: organization_id, userId: user_id };
    return parts.store.write((tx) => createAccount(tx, parts, environment.id, key, input, cause));
  };
  for (let from = 0; from < accounts; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, accounts - from) }, (_, place) => from + place);
    const created = await Promise.all(numbers.map(create));
    accountIds.push(...created.map(({ account }) => account.id));
    connectionId = created[0]?.account.connectionId ?? connectionId;
  }
  const token = issueAccessToken(
    parts.signingKeys.current,
    {
      issuer: environment.baseUrl,
      audience: environment.baseUrl,
      clientId: env['VALETKEY_CLIENT_ID'] as string,
      environmentId: environment.id,
      generation: 1,
      scopes: SCOPES,
    },
    parts.now(),
    parts.random,
  );
  await parts.close();
  return { accountIds, connectionId, token };
}

function nameOf(number: number): string {
  return `user-${String(number).padStart(4, '0')}@example.com`;
}
