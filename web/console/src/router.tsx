import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accessToken } from './session.ts';
import { Shell } from './shell.tsx';
import { Loading, Trouble } from './ui/parts.tsx';

const root = createRootRoute({ component: Outlet });

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: lazyRouteComponent(() => import('./pages/login.tsx'), 'LoginPage'),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ location }) {
    if (!(await accessToken())) throw redirect({ to: '/login', search: { next: location.href } });
  },
});

type Filters = Record<string, string | undefined>;

/** The filters of a list are in the address, so that a list can be linked to. */
function filters(search: Record<string, unknown>): Filters {
  const texts = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(texts.map(([name, value]) => [name, String(value).slice(0, 500)]));
}

function page<P extends string>(path: P, load: () => Promise<Record<string, unknown>>, name: string) {
  return createRoute({
    getParentRoute: () => shell,
    path,
    component: lazyRouteComponent(load as never, name as never) as never,
    validateSearch: filters,
  });
}

const pages = [
  page('/', () => import('./pages/home.tsx'), 'HomePage'),
  page('/accounts', () => import('./pages/accounts.tsx'), 'AccountsPage'),
  page('/accounts/$id', () => import('./pages/account.tsx'), 'AccountPage'),
  page('/tools', () => import('./pages/tools.tsx'), 'ToolsPage'),
  page('/tools/$name', () => import('./pages/tool.tsx'), 'ToolPage'),
  page('/overlays', () => import('./pages/overlays.tsx'), 'OverlaysPage'),
  page('/overlays/$name', () => import('./pages/overlay.tsx'), 'OverlayPage'),
  page('/executions', () => import('./pages/executions.tsx'), 'ExecutionsPage'),
  page('/executions/$id', () => import('./pages/execution.tsx'), 'ExecutionPage'),
  page('/connections', () => import('./pages/connections.tsx'), 'ConnectionsPage'),
  page('/connections/new', () => import('./pages/new-connection.tsx'), 'NewConnectionPage'),
  page('/connections/$id', () => import('./pages/connection.tsx'), 'ConnectionPage'),
  page('/mcp', () => import('./pages/mcp.tsx'), 'McpPage'),
  page('/webhooks', () => import('./pages/webhooks.tsx'), 'WebhooksPage'),
  page('/webhooks/$id', () => import('./pages/webhook.tsx'), 'WebhookPage'),
  page('/verified', () => import('./pages/verified.tsx'), 'VerifiedPage'),
  page('/audit', () => import('./pages/audit.tsx'), 'AuditPage'),
  page('/settings', () => import('./pages/settings.tsx'), 'SettingsPage'),
  page('/import', () => import('./pages/import.tsx'), 'ImportPage'),
  page('$', () => import('./pages/not-found.tsx'), 'NotFoundPage'),
];

export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([login, shell.addChildren(pages)]),
    basepath: '/console',
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error }) => <Trouble error={error} />,
    scrollRestoration: true,
  });
}
