import { formTerms } from '../../core/accounts/links/entered-fields.ts';
import type { LinkContext } from '../../core/accounts/links/link-context.ts';
import { applicationOrigin, errorAddress, type LinkError } from '../../core/accounts/links/return-address.ts';
import type { Digester } from '../../core/vault/digest.ts';
import type { AuthRequestRow } from '../../db/store.ts';
import type { ReturnLink } from '../../web/connect/message-pages.ts';

/**
 * Returns the token that binds a form to its link, to the browser that was shown the page, and to the fields of the
 * form, so that only this page can submit the form.
 */
export function linkFormToken(
  { digester }: { digester: Pick<Digester, 'digest'> },
  link: LinkContext,
  linkToken: string,
  browser: string,
): Buffer {
  return digester.digest('link form', linkToken, browser, formTerms(link));
}

/**
 * Returns the form with which a user leaves an open link. It ends the link and tells the application.
 *
 * @param address of the page of the link
 * @returns undefined if the browser has no flow cookie, or the link does not lead back to an application
 */
export function leaveLink(
  tools: { digester: Pick<Digester, 'digest'> },
  link: LinkContext,
  linkToken: string,
  browser: string | undefined,
  address: string,
): ReturnLink | undefined {
  if (browser === undefined || applicationOrigin(link.request) === undefined) return undefined;
  const formToken = linkFormToken(tools, link, linkToken, browser).toString('base64url');
  return { action: address, formToken };
}

/** Returns the way back to the application from a link that ended without an account; undefined if there is none. */
export function leaveWithError(request: AuthRequestRow | undefined): ReturnLink | undefined {
  const error = (request?.error as LinkError | null | undefined) ?? 'expired_token';
  const url = request && errorAddress(request, error);
  return url === undefined ? undefined : { url };
}

/**
 * Returns the way back to the application after the account was connected. It leads to the application's start page,
 * because the application already knows the outcome.
 */
export function returnAfterConnecting(request: AuthRequestRow): ReturnLink | undefined {
  const url = applicationOrigin(request);
  return url === undefined ? undefined : { url };
}
