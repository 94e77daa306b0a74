import type { AccountRow, AuthRequestRow, ConnectionRow, Transaction } from '../../../db/store.ts';
import { completeConnection } from '../../connections/complete.ts';
import type { Cause, Events } from '../../events/events.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Bound } from '../binding.ts';
import { openCredentials, sealCredentials } from '../credentials.ts';
import { publicPart } from '../details.ts';
import { mergeConfig } from '../merge.ts';
import { orderRevocation, type RevocationDeps } from '../revocation-order.ts';
import { mayBeShared } from '../shared-grant.ts';
import type { Grant } from './authorization-client.ts';

export interface ActivateDeps extends RevocationDeps {
  vault: Vault;
  events: Events;
}

/** An account and the grant that becomes its credentials. */
export type Activation = {
  account: AccountRow;
  connection: ConnectionRow;
  request: AuthRequestRow;
  grant: Grant;
};

/**
 * Stores a grant as the credentials of its account, under a new generation. It replaces the previous credentials. If
 * these belong to a different user at the provider, they are revoked there, unless an active account may share their
 * grant.
 *
 * @param bound what the credentials are bound to
 */
export async function activate(
  tx: Transaction,
  deps: ActivateDeps,
  { account, connection, request, grant }: Activation,
  bound: Bound,
  cause: Cause,
): Promise<void> {
  const { environmentId, id } = account;
  const at = deps.now();
  const credentialGeneration = account.credentialGeneration + 1;
  const place = { environmentId, id, credentialGeneration, ...bound };
  const before = openCredentials(deps.vault, account, { ...account, temporarySealed: null });
  await tx.accounts.update(environmentId, id, account.version, {
    ...sealCredentials(deps.vault, place, grant.details),
    apiConfig: mergeConfig(account.apiConfig, grant.apiConfig, 'api_config'),
    publicDetails: publicPart(grant.details, bound.binding.fields),
    ...bound,
    providerSubject: grant.subject,
    tokenExpiresAt: grant.tokenExpiresAt,
    credentialGeneration,
    status: 'ACTIVE',
    statusReason: null,
    updatedAt: at,
  });
  await completeConnection(tx, environmentId, connection, at);
  await deps.events.emit(tx, cause, {
    type: 'connected_account.connected',
    subject: id,
    details: { link_id: request.id },
    auditOnly: { from_generation: account.credentialGeneration, to_generation: credentialGeneration },
    data: async (show) => ({ connected_account: await show.account(id), previous_status: account.status }),
  });
  const isOther = account.providerSubject !== null && account.providerSubject !== grant.subject;
  // The account already has its new subject, so this checks whether another account still has the old subject.
  const now = await tx.accounts.get(environmentId, id);
  if (isOther && !(await mayBeShared(tx, request, now, account.providerSubject))) {
    await orderRevocation(tx, deps, account, before);
  }
}
