import type { CommandGroup, CommandLeaf, CommandModule, CommandTable, Needs } from './command-node.ts';

const SERVER = 'Run a server';
const DATA = 'Manage its data';
const USE = 'Use a server';
const SHELL = 'Use a shell';

/** The heading under which the help lists a command. */
export const SECTIONS: Readonly<Record<string, string>> = {
  ...sections(SERVER, ['serve', 'init', 'status', 'console', 'environments', 'doctor']),
  ...sections(DATA, ['keys', 'audit', 'backup', 'restore', 'db', 'import', 'accept-loss']),
  ...sections(USE, ['token', 'accounts', 'connections', 'tools', 'executions', 'events', 'webhooks', 'mcp']),
  ...sections(SHELL, ['completion']),
};

export const COMMANDS: CommandTable = {
  serve: files('start the server', () => import('./commands/serve.ts')),
  init: files(
    'create keys, the first environment and its API client in an empty database that servers share',
    () => import('./commands/init.ts'),
  ),
  status: api('show whether a server is ready, and its accounts by status', () => import('./commands/status.ts')),
  console: files(
    'print a one-time address at which an operator logs in to the console',
    () => import('./commands/console.ts'),
  ),
  environments: group('show, add and configure environments, which the Host header selects', {
    list: files('list environments', () => import('./commands/environments/list.ts')),
    add: files('add an environment and its first API client', () => import('./commands/environments/add.ts')),
    set: files('change settings and the brand of an environment', () => import('./commands/environments/set.ts')),
  }),
  doctor: files(
    'compare a connector, and a connection, with what the provider publishes',
    () => import('./commands/doctor.ts'),
  ),

  keys: group('show, rotate and retire key-encryption keys', {
    list: files('list keys', () => import('./commands/keys/list.ts')),
    rotate: files(
      'make a new active key and encrypt every record with it, while the server runs',
      () => import('./commands/keys/rotate.ts'),
    ),
    retire: files('remove a key that encrypts nothing any more', () => import('./commands/keys/retire.ts')),
  }),
  audit: group('read, export and verify the audit log', {
    list: api('list who did what, newest first', () => import('./commands/audit/list.ts')),
    export: api('write the whole audit log as JSON lines', () => import('./commands/audit/export.ts')),
    verify: files(
      'check that the audit log and its archive are one complete chain',
      () => import('./commands/audit/verify.ts'),
    ),
  }),
  'verify-audit': {
    ...files('the earlier name of audit verify', () => import('./commands/audit/verify.ts')),
    hidden: true,
  },
  backup: files(
    'make a verified copy of the database, while the server runs or not',
    () => import('./commands/backup.ts'),
  ),
  restore: files(
    'replace the database by a backup, while the server does not run',
    () => import('./commands/restore.ts'),
  ),
  db: group('change or check the schema of a database server, or copy the data', {
    migrate: files('bring the schema to this version', () => import('./commands/db/migrate.ts')),
    check: files('check the schema, indexes, privileges and settings', () => import('./commands/db/check.ts')),
    copy: files('copy the data from a file to the database server, or back', () => import('./commands/db/copy.ts')),
  }),
  import: files(
    'convert an OpenAPI document to a provider and its tools, without a server',
    () => import('./commands/import.ts'),
  ),
  'accept-loss': files(
    'let the server start although data is missing, after it refused to start',
    () => import('./commands/accept-loss.ts'),
  ),

  token: api('print an access token for other programs', () => import('./commands/token.ts')),
  accounts: group('list, connect, check and disconnect the accounts of users', {
    list: api('list accounts', () => import('./commands/accounts/list.ts')),
    show: api('show an account without its credentials', () => import('./commands/accounts/show.ts')),
    link: api('make a link with which a user connects an account', () => import('./commands/accounts/link.ts')),
    check: api('ask the provider whether it accepts the credentials', () => import('./commands/accounts/check.ts')),
    refresh: api('get a new token for an account now', () => import('./commands/accounts/refresh.ts')),
    disconnect: api('delete the credentials and revoke them', () => import('./commands/accounts/disconnect.ts')),
  }),
  connections: group('list and configure connections to providers', {
    list: api('list connections', () => import('./commands/connections/list.ts')),
    show: api('show a connection', () => import('./commands/connections/show.ts')),
    set: api('change a connection, or create it', () => import('./commands/connections/set.ts')),
    doctor: api(
      'compare a connection with what the provider publishes',
      () => import('./commands/connections/doctor.ts'),
    ),
  }),
  tools: group('find, run and import tools', {
    search: api('find tools for a task', () => import('./commands/tools/search.ts')),
    show: api('show a tool with its input schema', () => import('./commands/tools/show.ts')),
    run: api('run a tool with an account', () => import('./commands/tools/run.ts')),
    import: api('convert an OpenAPI document to a provider and its tools', () => import('./commands/tools/import.ts')),
    overlays: group('hide, rename and restrict tools in the environment', {
      list: api('list overlays', () => import('./commands/tools/overlays/list.ts')),
      show: api('show the overlay of a tool', () => import('./commands/tools/overlays/show.ts')),
      set: api('set the overlay of a tool', () => import('./commands/tools/overlays/set.ts')),
      delete: api('delete the overlay of a tool', () => import('./commands/tools/overlays/delete.ts')),
    }),
  }),
  executions: group('list, show and follow tool calls', {
    list: api('list tool calls, newest first', () => import('./commands/executions/list.ts')),
    show: api('show a tool call', () => import('./commands/executions/show.ts')),
    tail: api('show tool calls as they end', () => import('./commands/executions/tail.ts')),
  }),
  events: group('follow events', {
    tail: api('show events as they happen', () => import('./commands/events/tail.ts')),
  }),
  webhooks: group('list and test webhook endpoints, and forward events to this machine', {
    list: api('list webhook endpoints', () => import('./commands/webhooks/list.ts')),
    test: api('send a test event to an endpoint', () => import('./commands/webhooks/test.ts')),
    listen: api(
      'forward events to an application on this machine, signed like webhooks',
      () => import('./commands/webhooks/listen.ts'),
    ),
  }),
  mcp: group('configure MCP clients, and how their users log in', {
    add: api('print or write the configuration of an MCP client', () => import('./commands/mcp/add.ts')),
    'login-provider': group('show, set and delete the provider that identifies the users of MCP clients', {
      show: api('show the login provider', () => import('./commands/mcp/login-provider/show.ts')),
      set: api('set the login provider', () => import('./commands/mcp/login-provider/set.ts')),
      delete: api('delete the login provider', () => import('./commands/mcp/login-provider/delete.ts')),
    }),
  }),
  completion: leaf('nothing', 'print the completion script for a shell', () => import('./commands/completion.ts')),
};

function leaf(needs: Needs, summary: string, load: () => Promise<CommandModule>): CommandLeaf {
  return { summary, needs, load };
}

function files(summary: string, load: () => Promise<CommandModule>): CommandLeaf {
  return leaf('files', summary, load);
}

function api(summary: string, load: () => Promise<CommandModule>): CommandLeaf {
  return leaf('api', summary, load);
}

function group(summary: string, commands: CommandTable): CommandGroup {
  return { summary, commands };
}

function sections(section: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, section]));
}
