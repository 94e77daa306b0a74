import type { IncomingMessage } from 'node:http';
import { applicationOrigins } from '../../core/accounts/links/outcome.ts';
import type { ConnectionRow } from '../../db/store.ts';
import { type BrandView, NO_BRAND, type PageContext } from '../../web/connect/context.ts';
import { chooseLanguage } from '../../web/languages/choose-language.ts';
import { textsOf } from '../../web/languages/texts.ts';
import type { Environment } from '../pipeline/environments.ts';

/**
 * Returns the language and the brand of a page.
 *
 * @param environment undefined while it is not known, or if the host has none
 */
export function pageContext(req: IncomingMessage, environment: Environment | undefined): PageContext {
  const texts = textsOf(chooseLanguage(null, req.headers['accept-language']));
  return { texts, brand: environment ? brandView(environment) : NO_BRAND };
}

/**
 * Returns the context of a page of a link, in the language of the link. If the environment has no application name, the
 * organization name of the connection is shown.
 */
export function linkPageContext(
  context: PageContext,
  req: IncomingMessage,
  { language }: { language: string | null },
  connection?: Pick<ConnectionRow, 'organizationName'>,
): PageContext {
  const texts = textsOf(chooseLanguage(language, req.headers['accept-language']));
  const application = context.brand.application || connection?.organizationName || '';
  return { texts, brand: { ...context.brand, application } };
}

/**
 * Returns the context of a page about a link that is no longer open, in the language of the link; for an unknown link,
 * the context of the request.
 */
export function ofRequest(
  { context, req }: { context: PageContext; req: IncomingMessage },
  request: { language: string | null } | undefined,
): PageContext {
  return request ? linkPageContext(context, req, request) : context;
}

/** Uses the host of the environment if the application has no name, so that users know who requests access. */
export function namedContext(context: PageContext, { baseUrl }: Environment): PageContext {
  const application = context.brand.application || new URL(baseUrl).host;
  return { ...context, brand: { ...context.brand, application } };
}

function brandView(environment: Environment): BrandView {
  const { settings } = environment;
  const { accentColor, logoDigest } = settings;
  return {
    application: settings.applicationName ?? '',
    // Relative addresses, because an environment can have several hosts.
    logoUrl: logoDigest === undefined ? '' : `/connect/brand/logo?v=${logoDigest}`,
    accentUrl: accentColor === undefined ? '' : `/connect/brand/accent.css?v=${accentColor.slice(1)}`,
    supportUrl: settings.supportUrl ?? '',
    privacyUrl: settings.privacyUrl ?? '',
    termsUrl: settings.termsUrl ?? '',
    homeUrl: applicationOrigins(environment)[0] ?? '',
  };
}
