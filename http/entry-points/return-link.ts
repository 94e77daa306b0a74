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
 * How a user leaves an open link: by a form that ends it, which tells the application.
 *
 * @param address of the page of the link
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

/** How a user leaves a link that has ended without an account. */
export function leaveWithError(request: AuthRequestRow | undefined): ReturnLink | undefined {
  const error = (request?.error as LinkError | null | undefined) ?? 'expired_token';
  const url = request && errorAddress(request, error);
  return url === undefined ? undefined : { url };
}

/** How a user leaves a link whose account is connected: to the start page, because the application knows the outcome. */
export function returnAfterConnecting(request: AuthRequestRow): ReturnLink | undefined {
  const url = applicationOrigin(request);
  return url === undefined ? undefined : { url };
}
