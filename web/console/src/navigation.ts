/** The pages of the navigation, in the order in which operators use them. */
export const PAGES = [
  { to: '/', label: 'Home' },
  { to: '/accounts', label: 'Accounts' },
  { to: '/connections', label: 'Connections' },
  { to: '/tools', label: 'Tools' },
  { to: '/overlays', label: 'Tool overlays' },
  { to: '/executions', label: 'Executions' },
  { to: '/mcp', label: 'MCP' },
  { to: '/webhooks', label: 'Webhooks' },
  { to: '/audit', label: 'Audit log' },
  { to: '/import', label: 'Import' },
  { to: '/settings', label: 'Settings' },
] as const;

/** Replaces the name of a connection in an address if the operator may choose any connection. */
export const ANY_CONNECTION = 'any';
