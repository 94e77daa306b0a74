import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { CONNECT_PAGES } from '../../../scripts/screens/connect-pages.ts';
import { PORTAL_PAGES } from '../../../scripts/screens/portal-pages.ts';
import { accentStyles } from '../../../web/connect/accent.ts';
import { type LanguageTag, textsOf } from '../../../web/languages/texts.ts';

const ASSETS = join(import.meta.dirname, '../../../web/assets');
const BRAND = {
  application: 'Contoso',
  logoUrl: '',
  accentUrl: '/accent.css',
  supportUrl: 'https://contoso.example/help',
  privacyUrl: 'https://contoso.example/privacy',
  termsUrl: 'https://contoso.example/terms',
  homeUrl: 'https://app.contoso.example',
};

/** The pages of links, of MCP logins and of the portal. */
export const USER_PAGES: typeof CONNECT_PAGES = { ...CONNECT_PAGES, ...PORTAL_PAGES };

/** Serves the pages without a server: the browser asks for an origin that does not exist. */
export async function serveUserPages(page: Page): Promise<void> {
  await page.route('http://pages.test/**', (route) => {
    const { pathname } = new URL(route.request().url());
    const [, language = '', name = ''] = pathname.split('/');
    const found = USER_PAGES[name];
    if (found) {
      const body = String(found({ texts: textsOf(language as LanguageTag), brand: BRAND }));
      return route.fulfill({ contentType: 'text/html; charset=utf-8', body });
    }
    if (pathname === '/accent.css') return route.fulfill({ contentType: 'text/css', body: accentStyles('#ffdd00') });
    const [sheet] = /(?:connect|portal)\.css$/.exec(pathname) ?? [];
    if (sheet) return route.fulfill({ contentType: 'text/css', body: readFileSync(join(ASSETS, sheet), 'utf8') });
    return route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' });
  });
}
