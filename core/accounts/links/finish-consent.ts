import type { AuthFlowRow, EnvironmentRow } from '../../../db/store.ts';
import { findPattern, findProvider } from '../../connections/providers.ts';
import type { AuthPattern } from '../../connectors/auth-pattern.ts';
import type { Cause } from '../../events/events.ts';
import { attemptFailed } from './attempt.ts';
import type { Grant } from './authorization-client.ts';
import { contextOf, declaredBinding, isSameDestination, type LinkContext } from './link-context.ts';
import type { LinkDeps } from './link-deps.ts';
import { discard, type Settled, settle } from './settle.ts';
import { openStoredFlow, planOf, type StoredFlow } from './start-consent.ts';
import { isToken, tokenDigest } from './tokens.ts';

/** The request of a browser that the provider redirected back to Valetkey. */
export interface Return {
  /** The connection in the path of the callback. */
  connectionId: string;
  /** The query of the callback. */
  answer: URLSearchParams;
  /** The secret of the browser's cookie, if it has one. */
  browser: string | undefined;
}

/**
 * The result of a callback. `invalid`: the request does not belong to an unfinished flow of this browser and
 * connection, and nothing was sent to the provider. `refused`: the user or the provider declined. `failed`: the
 * provider violated the protocol or could not be reached.
 */
export type Finish =
  | { kind: 'invalid' }
  | ((Settled | { kind: 'refused' | 'failed'; link: LinkContext; linkToken: string }) & {
      /** Whether the link was opened in a popup of the application. */
      inPopup: boolean;
    });

/**
 * Handles the callback after consent (threats L3, L8, L9). Only the browser that started the flow can finish it, once,
 * at the callback of the same connection. A code is redeemed only with the secrets of the flow that requested it.
 */
export async function finishConsent(
  deps: LinkDeps,
  environment: EnvironmentRow,
  back: Return,
  cause: Cause,
): Promise<Finish> {
  const flow = await flowOf(deps, environment, back);
  const kept = flow && openStoredFlow(deps, flow);
  if (!flow || !kept) return { kind: 'invalid' };
  const isFirst = await deps.store.write((tx) => tx.authFlows.spend(environment.id, flow.stateDigest, deps.now()));
  if (!isFirst) return { kind: 'invalid' };
  if (flow.connectionId !== back.connectionId) {
    // The response belongs to another provider (mix-up attack), so the code is not redeemed.
    const fields = { connection_id: flow.connectionId };
    deps.log.warn(fields, 'an authorization response to the callback URL of another connection was rejected');
    return { kind: 'invalid' };
  }
  const link = await linkOf(deps, environment, flow, kept);
  const { inPopup, linkToken } = kept;
  if (!link) {
    const request = await deps.store.read.authRequests.get(environment.id, flow.requestId);
    return { kind: 'late', request, inPopup };
  }
  const plan = planOf(link, { ...link.account.apiConfig, ...kept.change });
  const finished = await deps.authorization.finish(plan, kept.protocol, back.answer);
  if (!finished.ok) {
    const fields = { connection_id: link.connection.id, kind: finished.kind, reason: finished.message };
    deps.log.warn(fields, 'an account was not connected, because its authorization was refused or failed');
    if (finished.grant) await discard(deps, link, finished.grant);
    await attemptFailed(deps, link, finished, cause);
    return { kind: finished.kind, link, linkToken, inPopup };
  }
  const grant: Grant = { ...finished.grant, apiConfig: { ...kept.change, ...finished.grant.apiConfig } };
  return { ...(await settle(deps, link, grant, cause)), inPopup };
}

/**
 * Returns the link of a callback whose token is in the fragment of the URL, which browsers do not send to servers. The
 * flow stays open: a page of Valetkey reads the fragment and posts the token.
 *
 * @returns undefined for any other callback
 */
export async function awaitsFragment(
  deps: LinkDeps,
  environment: EnvironmentRow,
  back: Return,
): Promise<LinkContext | undefined> {
  const pattern = await patternOf(deps, environment, back.connectionId);
  if (!pattern || !deps.authorization.returnsByFragment(pattern)) return undefined;
  const flow = await flowOf(deps, environment, back);
  const kept = flow && openStoredFlow(deps, flow);
  return flow && kept && flow.connectionId === back.connectionId ? linkOf(deps, environment, flow, kept) : undefined;
}

/** Finds the flow of a callback by its state, and only for the browser that started the flow. */
async function flowOf(
  deps: LinkDeps,
  environment: EnvironmentRow,
  { connectionId, answer, browser }: Return,
): Promise<AuthFlowRow | undefined> {
  const { digester, store, now, authorization } = deps;
  const state = authorization.readState(await patternOf(deps, environment, connectionId), answer);
  if (!isToken(state) || !isToken(browser)) return undefined;
  const flow = await store.read.authFlows.byState(environment.id, tokenDigest(digester, 'flow state', state));
  if (!flow || flow.spentAt !== null || flow.expiresAt <= now()) return undefined;
  return digester.equal(flow.browserDigest, tokenDigest(digester, 'flow browser', browser)) ? flow : undefined;
}

async function patternOf(
  { store: { read }, catalogue }: LinkDeps,
  environment: EnvironmentRow,
  connectionId: string,
): Promise<AuthPattern | undefined> {
  const connection = await read.connections.get(environment.id, connectionId);
  const provider = connection && (await findProvider(read, catalogue, environment.id, connection.providerKey));
  return provider && connection && findPattern(provider, connection.type);
}

/**
 * Returns the link of a flow; undefined if the link has ended, or if the provider's addresses have changed since the
 * flow started (threat P2).
 */
async function linkOf(
  deps: LinkDeps,
  environment: EnvironmentRow,
  flow: AuthFlowRow,
  kept: StoredFlow,
): Promise<LinkContext | undefined> {
  const { read } = deps.store;
  const request = await read.authRequests.get(environment.id, flow.requestId);
  const link = request && (await contextOf(read, deps, environment, request));
  if (!link) return undefined;
  const declared = declaredBinding(link, { ...link.account.apiConfig, ...kept.change });
  return isSameDestination(declared, kept.declared) ? link : undefined;
}
