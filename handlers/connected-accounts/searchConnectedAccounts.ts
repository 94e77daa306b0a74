import type { Accounts } from '../../core/capabilities/accounts.ts';
import { ApiError } from '../../core/errors.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentSummary } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

const MIN_CHARACTERS = 3;
const MAX_CHARACTERS = 200;

export const searchConnectedAccounts: Handler<'searchConnectedAccounts', Accounts> = async (call, reply, accounts) => {
  const { page_size: size, page_token: token, connection_id: connectionId } = call.query;
  const query = readQuery(call.query.query);
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'searchConnectedAccounts', filters: { query, connectionId } };
  const request = readPage(accounts.sealedTokens, scope, token, size);
  const page = await accounts.store.read.accounts.search(environmentId, { query, connectionId }, request);
  return reply(200, {
    connected_accounts: page.rows.map((row) => presentSummary(row, accounts.usage.lastUsedAt(row))),
    ...pageTokens(accounts.sealedTokens, scope, page, accounts.now()),
    ...totalSize(page),
  });
};

/** Removes surrounding space and checks the length, in code points. */
function readQuery(text: string): string {
  const query = text.trim();
  const { length } = [...query];
  if (length >= MIN_CHARACTERS && length <= MAX_CHARACTERS) return query;
  throw new ApiError('VALIDATION_FAILED', 'The query is too short or too long.', {
    errors: [{ field: 'query', message: `must have ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters` }],
  });
}
