import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fillConsole } from './console-data.ts';
import { startConsoleWorld } from './console-world.ts';

/**
 * Takes pictures of the pages of the console. Without a folder, those that are kept in docs/screens; with one, in every
 * size and scheme: `node test/system/support/console-screens.ts [page,page] [folder]`.
 */
const SIZES = [
  { width: 320, height: 640 },
  { width: 768, height: 1024 },
  { width: 1440, height: 720 },
];
const KEPT = ['320-dark', '1440-light'];
const [only = '', given] = process.argv.slice(2);
const folder = given ?? join(import.meta.dirname, '../../../docs/screens');

mkdirSync(folder, { recursive: true });
const world = await startConsoleWorld();
const { accountId, executionId } = await fillConsole(world);
const { connections } = (await world.server.call('GET', '/api/v1/connections')).body;
const { webhook_endpoints: endpoints } = (await world.server.call('GET', '/api/v1/webhook_endpoints')).body;
const PAGES: Record<string, string> = {
  home: '/',
  accounts: '/accounts',
  account: `/accounts/${accountId}`,
  tools: '/tools?query=find%20an%20issue',
  tool: '/tools/acme_notes_get_note',
  overlays: '/overlays',
  overlay: '/overlays/github_create_issue',
  executions: '/executions',
  execution: `/executions/${executionId}`,
  connections: '/connections',
  'new-connection': '/connections/new?provider=github',
  connection: `/connections/${connections[0].id}`,
  mcp: '/mcp',
  webhooks: '/webhooks',
  webhook: `/webhooks/${endpoints[0].id}`,
  audit: '/audit',
  settings: '/settings',
  import: '/import',
};

for (const colorScheme of ['light', 'dark'] as const) {
  for (const viewport of SIZES) {
    if (given === undefined && !KEPT.includes(`${viewport.width}-${colorScheme}`)) continue;
    // A lower scale keeps the files in docs/screens small.
    const deviceScaleFactor = given === undefined && viewport.width > 1000 ? 0.75 : 1;
    const { page, go, complaints } = await world.logIn({
      viewport,
      deviceScaleFactor,
      colorScheme,
      reducedMotion: 'reduce',
    });
    for (const [name, path] of Object.entries(PAGES)) {
      if (only && !only.split(',').includes(name)) continue;
      await go(path);
      await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {});
      await page.screenshot({
        fullPage: given !== undefined,
        path: join(folder, `console-${name}-${viewport.width}-${colorScheme}.png`),
      });
    }
    if (complaints.length > 0) console.error(viewport.width, colorScheme, complaints);
    await page.context().close();
  }
}
await world.stop();
