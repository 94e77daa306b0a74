import type { PageContext } from '../../web/connect/context.ts';
import type { Page } from '../../web/connect/layout.ts';
import { portalLoginPage } from '../../web/portal/login-page.ts';
import { portalOverPage } from '../../web/portal/over-page.ts';
import { type PortalView, portalPage } from '../../web/portal/portal-page.ts';

const ADA = 'ada.lovelace+analytical-engine@widgets-of-the-world.example';
const AT = Date.parse('2026-11-20T10:00:00Z');
const DAY = 24 * 60 * 60 * 1000;

const form = (action: string) => ({ action: `/portal/${action}`, token: '' });
const mark = (name: string) => ({ name, iconUrl: `/icons/${name.toLowerCase()}.svg`, isTile: true });

const FULL: PortalView = {
  identifier: ADA,
  returnUrl: 'https://app.contoso.example/',
  notice: 'connected',
  accounts: [
    {
      provider: mark('GitHub'),
      identifier: ADA,
      dataLanguage: 'en',
      status: 'ACTIVE',
      lastUsedAt: AT,
      scopes: [{ name: 'Repositories', description: 'Read and write code, issues and pull requests.' }],
      reconnect: form('a'),
      disconnect: form('b'),
    },
    {
      provider: mark('Salesforce'),
      identifier: ADA,
      dataLanguage: 'en',
      status: 'EXPIRED',
      lastUsedAt: AT - 6 * DAY,
      scopes: [],
      reconnect: form('c'),
      disconnect: form('d'),
    },
  ],
  connectable: [{ provider: mark('Slack'), connect: form('e') }],
  grants: [
    {
      client: 'Claude',
      host: 'claude.ai',
      providers: ['GitHub', 'Salesforce'],
      createdAt: AT - 10 * DAY,
      lastUsedAt: AT,
      revoke: form('f'),
    },
  ],
  calls: [
    {
      tool: 'List issues',
      dataLanguage: 'en',
      provider: 'GitHub',
      identifier: ADA,
      startedAt: AT,
      status: 'SUCCEEDED',
    },
    { tool: '', dataLanguage: '', provider: 'Salesforce', identifier: ADA, startedAt: AT - 6 * DAY, status: 'FAILED' },
  ],
  signOut: form('sign_out'),
};

const EMPTY: PortalView = {
  ...FULL,
  notice: undefined,
  accounts: [],
  grants: [],
  calls: [],
  connectable: [...FULL.connectable, { provider: mark('GitHub'), connect: form('g') }],
};

/** The pages of the portal, by name. */
export const PORTAL_PAGES: Readonly<Record<string, (context: PageContext) => Page>> = {
  portal: (context) => portalPage(context, FULL),
  'portal-empty': (context) => portalPage(context, EMPTY),
  'portal-login': (context) => portalLoginPage(context, '/portal/login', false),
  'portal-login-failed': (context) => portalLoginPage(context, '/portal/login', true),
  'portal-over': (context) => portalOverPage(context),
};
