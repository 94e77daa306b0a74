import type { AccountRow, AuthRequestRow, EnvironmentId, Repositories } from '../../../db/store.ts';
import { Secret } from '../../secret.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Details } from '../details.ts';
import { formOf } from '../details.ts';
import type { JsonObject } from '../merge.ts';
import { outboxPlace } from './places.ts';

/** The kind of outbox entries that ask for a revocation. */
export const REVOKE = 'revoke';

/** How long a revocation is tried again. */
const GIVE_UP_MS = 72 * 60 * 60 * 1000;

/** All that is needed to revoke at the provider, also when the account and its connection are gone by then. */
export interface RevocationOrder {
  provider: string;
  connection_id: string;
  authorization_type: string;
  client_id: string | null;
  tokens: JsonObject;
  api_config: JsonObject;
  /** Where the tokens may be sent. */
  origins: string[];
}

export interface RevocationTools {
  vault: Vault;
  now(): number;
  newId(prefix: 'out'): string;
}

/** Whose tokens are to be revoked, and where they were issued; an account is one. */
export interface Bearer extends Pick<AccountRow, 'environmentId' | 'id' | 'connectionId' | 'provider'> {
  authorizationType: string;
  apiConfig: JsonObject;
  /** Where the tokens may be sent. */
  origins: string[];
}

/**
 * Orders the revocation of tokens at their provider, in the transaction that gives them up. Only what a provider has issued can be
 * revoked there: for typed credentials nothing is ordered.
 *
 * @returns whether there was anything to revoke
 */
export async function orderRevocation(
  tx: Repositories,
  tools: RevocationTools,
  bearer: Bearer,
  details: Details,
): Promise<boolean> {
  const tokens = details.oauth_token;
  if (formOf(details) !== 'oauth_token' || !tokens) return false;
  const { environmentId, connectionId, origins } = bearer;
  const connection = await tx.connections.get(environmentId, connectionId);
  const order: RevocationOrder = {
    provider: bearer.provider,
    connection_id: connectionId,
    authorization_type: bearer.authorizationType,
    client_id: connection?.clientId ?? null,
    tokens,
    api_config: bearer.apiConfig,
    origins,
  };
  const id = tools.newId('out');
  const at = tools.now();
  const { kekId, blob } = tools.vault.sealValue(outboxPlace(environmentId, id), new Secret(JSON.stringify(order)));
  const times = { nextAt: at, giveUpAt: at + GIVE_UP_MS, createdAt: at };
  const entry = { id, kind: REVOKE, subjectId: bearer.id, kekId, payloadSealed: blob, ...times };
  await tx.outbox.insert(environmentId, entry);
  return true;
}

/** @throws VaultError when the entry or its place was altered */
export function openRevocationOrder(
  vault: Vault,
  entry: { environmentId: EnvironmentId; id: string; payloadSealed: Buffer },
): RevocationOrder {
  const opened = vault.openValue(outboxPlace(entry.environmentId, entry.id), entry.payloadSealed);
  return JSON.parse(opened.reveal()) as RevocationOrder;
}

/**
 * Whether to revoke tokens could also end the grant that a live account stands on: many providers end all of a person's grant to
 * a client when one of its tokens is revoked. What is not known to be somebody else's is taken for the same person's, because an
 * ACTIVE account has to keep working whatever becomes of another flow (threat L11); such tokens are wiped here and die by themselves.
 *
 * @param subject of the tokens in question
 */
export async function mayBeShared(
  tx: Repositories,
  request: Pick<AuthRequestRow, 'environmentId' | 'connectionId'>,
  account: AccountRow | undefined,
  subject: string | null,
): Promise<boolean> {
  const isUnknown = subject === null || account?.providerSubject === null;
  if (account?.status === 'ACTIVE' && isUnknown) return true;
  return subject !== null && tx.accounts.hasActiveSubject(request.environmentId, request.connectionId, subject);
}
