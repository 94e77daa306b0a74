import type { Repositories } from '../../../db/store.ts';
import { callbackUrl } from '../../connections/callback-url.ts';
import type { Cause } from '../../events/events.ts';
import type { Bound } from '../binding.ts';
import type { JsonObject } from '../merge.ts';
import { attemptFailed } from './attempt.ts';
import type { AuthorizationPlan } from './authorization-client.ts';
import { emitLink } from './emit-link.ts';
import { contextOf, declaredBinding, type LinkContext } from './link-context.ts';
import { FLOW_MS, type LinkDeps } from './link-deps.ts';
import { tokenDigest } from './tokens.ts';

/** The data of a flow that is stored while the user is at the provider. */
export interface StoredFlow {
  /** Used to return to the link page if consent is declined or fails. */
  linkToken: string;
  /** Whether the link is open in a popup of the application. */
  inPopup: boolean;
  /** The values that the user entered before leaving. */
  change: JsonObject;
  /**
   * The binding that the credentials would get from the definition and configuration at the time when the user left.
   */
  declared: Bound;
  /** The data that the protocol needs again at the callback. */
  protocol: object;
}

export type Started = { ok: true; url: string } | { ok: false };

/**
 * Starts consent and returns the address at the provider to redirect the user to. Each start has its own state and
 * secrets, bound to the browser that starts: only this browser can finish the flow (threats L3, L7, L8). If consent
 * cannot be started, the attempt is recorded as failed and `ok` is false.
 *
 * @param linkToken the token that the link was opened with
 * @param browser the secret of the browser's cookie, and whether the link is open in a popup
 * @param entered `apiConfig`: the account's configuration with the entered values; `change`: only these values
 */
export async function startConsent(
  deps: LinkDeps,
  opened: LinkContext,
  linkToken: string,
  { browser, inPopup }: { browser: string; inPopup: boolean },
  entered: { apiConfig: JsonObject; change: JsonObject },
  cause: Cause,
): Promise<Started> {
  const link = await withMetadata(deps, opened);
  if (!link) return failed(deps, opened, NOT_READY, cause);
  const begun = await deps.authorization.begin(planOf(link, entered.apiConfig));
  if (!begun.ok) {
    deps.log.warn({ connection_id: link.connection.id, reason: begun.message }, 'authorization could not be started');
    return failed(deps, link, begun.message, cause);
  }
  const declared = declaredBinding(link, entered.apiConfig);
  const kept: StoredFlow = { linkToken, inPopup, change: entered.change, declared, protocol: begun.kept };
  const { environment, request, connection } = link;
  const at = deps.now();
  const expiresAt = at + FLOW_MS;
  const sealed = deps.sealedFlows.seal(PURPOSE, bound(request.id, connection.id), JSON.stringify(kept), expiresAt);
  await deps.store.write(async (tx) => {
    await tx.authFlows.insert(environment.id, {
      stateDigest: tokenDigest(deps.digester, 'flow state', begun.state),
      requestId: request.id,
      connectionId: connection.id,
      browserDigest: tokenDigest(deps.digester, 'flow browser', browser),
      keptSealed: Buffer.from(sealed, 'base64url'),
      createdAt: at,
      expiresAt,
    });
    await tx.authRequests.extend(environment.id, request.id, expiresAt);
    await tx.authRequests.setError(environment.id, request.id, null);
    await awaitAuthorization(tx, link, at);
    await emitLink(tx, deps, 'link.opened', link, cause);
  });
  return { ok: true, url: begun.url };
}

async function failed(deps: LinkDeps, link: LinkContext, message: string, cause: Cause): Promise<Started> {
  await attemptFailed(deps, link, { kind: 'failed', message }, cause);
  return { ok: false };
}

/**
 * Reads the provider's metadata, because some providers name the consent address only there. Returns the link, which is
 * read again if the metadata changed what is stored; undefined if the metadata cannot be read or the link has ended.
 */
async function withMetadata(deps: LinkDeps, link: LinkContext): Promise<LinkContext | undefined> {
  const ready = await deps.prepareConsent(link);
  if (!ready.ok) {
    deps.log.warn({ connection_id: link.connection.id, reason: ready.message }, 'authorization could not be started');
    return undefined;
  }
  return ready.changed ? contextOf(deps.store.read, deps, link.environment, link.request) : link;
}

const PURPOSE = 'authorization flow';
const NOT_READY = 'The metadata of the provider could not be read, or the link has ended.';

function bound(requestId: string, connectionId: string): string[] {
  return [requestId, connectionId];
}

/** Returns the stored data of a flow; null if it was deleted or cannot be decrypted any more. */
export function openStoredFlow(
  deps: Pick<LinkDeps, 'sealedFlows'>,
  flow: { requestId: string; connectionId: string; keptSealed: Buffer | null },
): StoredFlow | null {
  if (!flow.keptSealed) return null;
  const sealed = flow.keptSealed.toString('base64url');
  const text = deps.sealedFlows.open(PURPOSE, bound(flow.requestId, flow.connectionId), sealed);
  return text === null ? null : (JSON.parse(text) as StoredFlow);
}

export function planOf({ environment, account, connection, provider, pattern }: LinkContext, apiConfig: JsonObject) {
  const redirectUri = callbackUrl(environment, connection.id);
  return { environment, account, connection, provider, pattern, apiConfig, redirectUri } satisfies AuthorizationPlan;
}

/** Sets the status of an inactive account to PENDING_AUTH. An active account stays active during consent. */
async function awaitAuthorization(tx: Repositories, { account, environment }: LinkContext, at: number): Promise<void> {
  const waiting = { status: 'PENDING_AUTH' as const, reason: null, updatedAt: at };
  await tx.accounts.setStatus(environment.id, account.id, ['EXPIRED', 'DISCONNECTED'], waiting);
}
