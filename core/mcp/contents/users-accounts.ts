import type { ReadRepositories } from '../../../db/store.ts';
import { findAccount } from '../../accounts/find.ts';
import { ApiError } from '../../errors.ts';
import { accountKeyOf } from '../connect-account.ts';
import type { McpSession } from '../session.ts';
import { contentMappings } from './list-contents.ts';

/**
 * Returns a text that differs if other connections offer resources (or prompts, by `kind`), or if the user's account of
 * one of them was created, deleted or changed its status.
 */
export async function usersAccounts(
  read: ReadRepositories,
  session: McpSession,
  kind: 'resources' | 'prompts',
): Promise<string> {
  const states: unknown[] = [];
  for (const { connection } of contentMappings(session, kind)) {
    const selector = { by: 'key' as const, key: accountKeyOf(session, connection) };
    const account = await findAccount(read, session.environment.id, selector).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
    states.push([connection.id, account?.id, account?.status]);
  }
  return JSON.stringify(states);
}
