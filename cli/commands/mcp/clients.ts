import { homedir } from 'node:os';
import { join } from 'node:path';

/** An MCP client, and how an MCP server is added to its configuration. */
export interface McpClient {
  title: string;
  /** The path of the configuration file: absolute, or relative to the working directory. */
  file: string;
  /**
   * For a JSON file, the member that contains the servers by name, and a function that returns the entry of a server.
   * For TOML, the name of the table.
   */
  format:
    | { type: 'json'; member: 'mcpServers' | 'servers'; entry(url: string): Record<string, unknown> }
    | { type: 'toml'; table: string };
  /** The next step for the user, as a sentence. */
  next: string;
}

const HOME = homedir();
const RESTART = 'Restart it, and log in when the browser opens.';

/** The clients that `valetkey mcp add` supports, by the name on the command line. */
export const CLIENTS = {
  'claude-code': {
    title: 'Claude Code',
    file: '.mcp.json',
    format: { type: 'json', member: 'mcpServers', entry: (url) => ({ type: 'http', url }) },
    next: 'Start claude in this directory, then log in with /mcp.',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    file: claudeDesktopFile(),
    // The file of Claude Desktop can only name programs, so the entry starts mcp-remote, which connects to the URL.
    format: {
      type: 'json',
      member: 'mcpServers',
      entry: (url) => ({ command: 'npx', args: ['-y', 'mcp-remote', url] }),
    },
    next: RESTART,
  },
  cursor: {
    title: 'Cursor',
    file: join(HOME, '.cursor', 'mcp.json'),
    format: { type: 'json', member: 'mcpServers', entry: (url) => ({ url }) },
    next: RESTART,
  },
  vscode: {
    title: 'VS Code',
    file: join('.vscode', 'mcp.json'),
    format: { type: 'json', member: 'servers', entry: (url) => ({ type: 'http', url }) },
    next: 'Open this directory in VS Code, and start the server with "MCP: List Servers".',
  },
  codex: {
    title: 'Codex',
    file: join(HOME, '.codex', 'config.toml'),
    format: { type: 'toml', table: 'mcp_servers' },
    next: 'Log in: codex mcp login, with the name of the server.',
  },
  'gemini-cli': {
    title: 'Gemini CLI',
    file: join(HOME, '.gemini', 'settings.json'),
    format: { type: 'json', member: 'mcpServers', entry: (url) => ({ httpUrl: url }) },
    next: 'Start gemini, then log in with /mcp auth.',
  },
} as const satisfies Record<string, McpClient>;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

function claudeDesktopFile(): string {
  const file = join('Claude', 'claude_desktop_config.json');
  if (process.platform === 'darwin') return join(HOME, 'Library', 'Application Support', file);
  if (process.platform === 'win32') return join(process.env['APPDATA'] ?? HOME, file);
  return join(process.env['XDG_CONFIG_HOME'] ?? join(HOME, '.config'), file);
}
