import type { LinkDeps } from '../../core/accounts/links/link-deps.ts';
import { type OpenedLink, openLink } from '../../core/accounts/links/open-link.ts';
import {
  applicationOrigins,
  type LinkOutcome,
  publicOutcome,
  unsuccessful,
} from '../../core/accounts/links/outcome.ts';
import { applicationOrigin, errorAddress, type LinkError } from '../../core/accounts/links/return-address.ts';
import type { Settled } from '../../core/accounts/links/settle.ts';
import { connectedUrl } from '../../core/accounts/links/verify.ts';
import type { AuthRequestRow } from '../../db/store.ts';
import { expiredPage, popupPage } from '../../web/connect/message-pages.ts';
import type { Reply } from '../contract.ts';
import { corsForOrigin } from '../pipeline/cors.ts';
import type { Environment } from '../pipeline/environments.ts';
import { respondUntyped } from '../responses/reply.ts';
import type { PageCall, PageReply } from './pages.ts';
import { leaveWithError } from './return-link.ts';

export type PopupDeps = Pick<LinkDeps, 'store'>;

const VERIFIED: LinkOutcome = { outcome: 'completed', verified: true };

/**
 * Whether a page of a link was opened in a popup by `/connect.js`. The parameter has the name that OpenID Connect uses
 * (Core 1.0 §3.1.2.1).
 */
export function isInPopup({ req }: Pick<PageCall, 'req'>): boolean {
  return new URL(req.url ?? '', 'http://localhost').searchParams.get('display') === 'popup';
}

export function linkPath(linkToken: string, inPopup: boolean): string {
  return `/connect/${linkToken}${inPopup ? '?display=popup' : ''}`;
}

/**
 * Returns the response after a user has finished a link: a redirect, or in a popup the page that reports the outcome to
 * the application. If the link has ended meanwhile, the response says so.
 */
export async function settledReply(
  deps: PopupDeps,
  call: PageCall,
  settled: Settled,
  inPopup: boolean,
): Promise<PageReply> {
  switch (settled.kind) {
    case 'verify': {
      const { request, url, authRequestId } = settled;
      const outcome: LinkOutcome = { outcome: 'completed', auth_request_id: authRequestId };
      // If the login provider verifies the user, the application has nothing to do, so the popup is redirected.
      return inPopup && applicationOrigin(request) !== undefined
        ? tell(deps, call, outcome, request, url)
        : { redirect: url };
    }
    case 'connected': {
      const { request } = settled;
      const url = connectedUrl(call.environment, request);
      return inPopup ? tell(deps, call, VERIFIED, request, url) : { redirect: url };
    }
    case 'late': {
      if (inPopup) return endedReply(deps, call, settled.request);
      return { status: 410, page: expiredPage(call.context, leaveWithError(settled.request)) };
    }
  }
}

/** Returns the page of a link that had already ended when it was opened in a popup. */
export function endedLinkPage(
  deps: PopupDeps,
  call: PageCall,
  opened: Exclude<OpenedLink, { kind: 'open' | 'waiting' }>,
): Promise<PageReply> {
  if (opened.kind === 'unknown') return endedReply(deps, call, undefined);
  const { kind, request } = opened;
  return kind === 'used' ? tell(deps, call, VERIFIED, request) : endedReply(deps, call, request);
}

/** Returns the popup page that tells the application that a link ended without an account. */
export function endedReply(deps: PopupDeps, call: PageCall, request: AuthRequestRow | undefined): Promise<PageReply> {
  const error = (request?.error as LinkError | null | undefined) ?? 'expired_token';
  return tell(deps, call, unsuccessful(error), request, request && errorAddress(request, error));
}

/** @param returnUrl where the popup is redirected if it cannot reach the page that opened it */
async function tell(
  { store }: PopupDeps,
  { context, environment }: PageCall,
  outcome: LinkOutcome,
  request: AuthRequestRow | undefined,
  returnUrl = '',
): Promise<PageReply> {
  const origins = await currentOrigins(store, environment);
  const state = request?.callerState;
  const told = { ...outcome, ...(typeof state === 'string' && { state }) };
  return { status: 200, page: popupPage(context, told, { origins, returnUrl }) };
}

/**
 * Returns the outcome of a link to the page that opened the popup. The page requests it when the popup can no longer
 * send it, for example because a provider isolates its pages (`Cross-Origin-Opener-Policy`). Only pages of the
 * application can read the response (threat L21).
 */
export async function outcomeReply(
  tools: Parameters<typeof openLink>[0],
  { req, environment }: Pick<PageCall, 'req' | 'environment'>,
  token: string,
): Promise<Reply> {
  const opened = await openLink(tools, environment, token);
  const origins = await currentOrigins(tools.store, environment);
  const isAllowed = origins.includes(String(req.headers.origin));
  const headers = isAllowed ? corsForOrigin(req) : { vary: 'Origin' };
  return respondUntyped(opened.kind === 'unknown' ? 404 : 200, publicOutcome(opened), headers);
}

/**
 * Returns the origins of the application. The settings are read again, because the environment of the pipeline may be
 * some seconds old.
 */
export async function currentOrigins(store: PopupDeps['store'], { id }: Environment): Promise<string[]> {
  const environment = await store.read.environments.get(id);
  return environment ? applicationOrigins(environment) : [];
}
