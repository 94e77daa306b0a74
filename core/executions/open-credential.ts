import type { AccountRow } from '../../db/store.ts';
import { openCredentials } from '../accounts/credentials.ts';
import { canObtainAgain } from '../accounts/obtaining/kinds.ts';
import type { Credential } from '../connectors/credential.ts';
import type { ApiError } from '../errors.ts';
import { credentialOf } from './credential.ts';
import { accountNotActive, type ToolCallContext } from './next-action.ts';
import type { ExecutionPlan } from './plan.ts';
import { type SigningAccount, type SigningDeps, signingCredential } from './signing.ts';

/** Decrypts the credential of an account. @returns null if the account has none that a request could contain */
export function openCredential(
  context: SigningAccount & { account: AccountRow },
  deps: SigningDeps,
): Credential | null {
  const details = openCredentials(deps.vault, context.account, context.account);
  const signing = signingCredential(context, details, deps);
  if (signing) return signing;
  const credential = credentialOf(details, context.account.binding.fields, context.connection.clientId);
  // Credentials that are only used to obtain tokens are not sent in calls.
  return canObtainAgain(context.account) && credential?.kind !== 'token' ? null : credential;
}

/** Decrypts the credential for the call of a plan. @param account the current row, possibly newer than the plan's */
export function credentialOfPlan(
  { call, connection }: ExecutionPlan,
  account: AccountRow,
  deps: SigningDeps,
): Credential | null {
  return openCredential({ account, connection, provider: call.provider, pattern: call.pattern }, deps);
}

/** Returns the error for a call of an account that has no access token. */
export function withoutToken({ authorizationType }: AccountRow, context: ToolCallContext): ApiError {
  const statusReason = 'The account has no access token.';
  return accountNotActive({ status: 'EXPIRED', statusReason, authorizationType }, context);
}
