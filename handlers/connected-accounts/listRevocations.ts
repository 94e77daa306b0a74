import { REVOCATION } from '../../core/accounts/revocation-order.ts';
import { NOT_REVOCABLE, REVOKED } from '../../core/accounts/revocation-result.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentRevocation } from '../../core/present/revocation.ts';
import type { JobFilters } from '../../db/store.ts';
import type { Handler, Schemas } from '../../http/contract.ts';

const STATES: Record<Schemas['RevocationStatus'], JobFilters> = {
  PENDING: { isPending: true },
  REVOKED: { result: REVOKED },
  NOT_REVOCABLE: { result: NOT_REVOCABLE },
  FAILED: { state: 'FAILED' },
};

export const listRevocations: Handler<'listRevocations', Accounts> = async (call, reply, accounts) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listRevocations', filters };
  const page = await accounts.store.read.jobs.page(
    environmentId,
    { kind: REVOCATION, subjectId: filters.connected_account_id, ...(filters.status && STATES[filters.status]) },
    readPage(accounts.sealedTokens, scope, token, size),
  );
  return reply(200, {
    revocations: page.rows.map(presentRevocation),
    ...pageTokens(accounts.sealedTokens, scope, page, accounts.now()),
    ...totalSize(page),
  });
};
