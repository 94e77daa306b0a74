import { canObtainAgain } from '../accounts/obtaining/kinds.ts';
import type { Credential } from '../connectors/credential.ts';
import type { StoredFiles } from '../contents/stored-files.ts';
import { previewUpstreamCall } from '../mcp/upstream/call.ts';
import { MASK, Secret } from '../secret.ts';
import { type DryRunRequest, dryRun } from '../tools/call.ts';
import { credentialOfPlan, withoutToken } from './open-credential.ts';
import { callWithFiles, type ExecutionPlan, partyOfPlan } from './plan.ts';
import { type SigningDeps, signingPreview } from './signing.ts';

/**
 * Returns the exact request of a plan with its secrets masked. No token is obtained or refreshed, and nothing is sent.
 */
export async function previewPlan(
  plan: ExecutionPlan,
  deps: SigningDeps & { files: StoredFiles },
): Promise<DryRunRequest> {
  const credential = credentialOfPlan(plan, plan.account, deps) ?? placeholderOf(plan);
  if (!credential) throw withoutToken(plan.account, partyOfPlan(plan));
  if (plan.call.tool.mcp) return previewUpstreamCall(plan.call, credential);
  return dryRun(await callWithFiles(plan, deps), credential);
}

/** Returns a placeholder for a token that Valetkey would obtain before the call; undefined if it would obtain none. */
function placeholderOf({ account, call }: ExecutionPlan): Credential | undefined {
  if (!canObtainAgain(account)) return undefined;
  return signingPreview({ account, pattern: call.pattern }) ?? { kind: 'token', accessToken: new Secret(MASK) };
}
