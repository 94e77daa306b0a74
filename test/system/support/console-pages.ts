/** The pages of the console's navigation, without those of single objects. */
export const CONSOLE_PAGES: readonly string[] = [
  '/',
  '/accounts',
  '/connections',
  '/tools',
  '/overlays',
  '/executions',
  '/mcp',
  '/webhooks',
  '/audit',
  '/import',
  '/settings',
];
