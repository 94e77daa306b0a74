import { programVersion } from '../core/program-version.ts';

interface Command {
  usage: string;
  summary: string;
  run(args: string[]): Promise<void>;
}

/** The commands. Each loads its modules when it runs, because most need much less than the server. */
const COMMANDS: Record<string, Command> = {
  serve: {
    usage: 'serve',
    summary: 'Start the server',
    run: async (args) => (await import('./serve.ts')).serveCommand(args),
  },
  init: {
    usage: 'init',
    summary: 'Make the keys, the first environment and its API client in an empty database, for servers that share it',
    run: async (args) => (await import('./init.ts')).initCommand(args),
  },
  db: {
    usage: 'db migrate [--expand | --contract] | check [--json] | copy --from-file <path> | copy --to-file <path>',
    summary: 'Bring the schema of a database on a server to this version, check it, or copy the data from or to a file',
    run: async (args) => (await import('./db.ts')).dbCommand(args),
  },
  keys: {
    usage: 'keys list | rotate | retire <key id>',
    summary: 'Show, rotate and retire key-encryption keys, while the server runs or not',
    run: async (args) => (await import('./keys.ts')).keysCommand(args),
  },
  environments: {
    usage:
      'environments list | add --kind DEVELOPMENT|PRODUCTION --base-url <origin> | set <id> --user-verify-url <address>',
    summary: 'Show, add and configure environments, told apart by the Host header',
    run: async (args) => (await import('./environments.ts')).environmentsCommand(args),
  },
  import: {
    usage: 'import <file>... [--overlay <file>]... [--connector <name>] [--base-url <https address>] [--dry-run]',
    summary: 'Turn an OpenAPI document into a provider and its tools, or show what that would change',
    run: async (args) => (await import('./import.ts')).importCommand(args),
  },
  backup: {
    usage: 'backup <file> | --dir <directory> [--keep <number>]',
    summary: 'Make a verified copy of the database, while the server runs or not',
    run: async (args) => (await import('./backup.ts')).backupCommand(args),
  },
  restore: {
    usage: 'restore <backup> [--replace]',
    summary: 'Put a backup in the place of the database, while the server does not run',
    run: async (args) => (await import('./restore.ts')).restoreCommand(args),
  },
  'accept-loss': {
    usage: 'accept-loss',
    summary:
      'Let the server start with what is there, after it has refused because data is missing or was copied elsewhere',
    run: async (args) => (await import('./accept-loss.ts')).acceptLossCommand(args),
  },
  'verify-audit': {
    usage: 'verify-audit [--archive <directory>]',
    summary: 'Check that the audit log and its archive are one whole chain, while the server runs or not',
    run: async (args) => (await import('./verify-audit.ts')).verifyAuditCommand(args),
  },
  webhooks: {
    usage: 'webhooks listen --forward-to <http address of this machine> [--server <origin>]',
    summary: 'Send the events of an environment to an application on this machine, signed like webhooks',
    run: async (args) => (await import('./webhooks.ts')).webhooksCommand(args),
  },
  console: {
    usage: 'console [--operator <name>] [--role owner|editor|viewer] [--environment <id>]',
    summary: 'Print a one-time address at which an operator logs in to the console, while the server runs or not',
    run: async (args) => (await import('./console.ts')).consoleCommand(args),
  },
  doctor: {
    usage: 'doctor <connector> [--connection <key_id>] [--environment <id>] [--issuer <https address>]',
    summary: 'Compare a connector, and a connection, with what the provider says of itself',
    run: async (args) => (await import('./doctor.ts')).doctorCommand(args),
  },
};

const EXPECTED = new Set(['UsageError', 'ConfigError', 'VaultError', 'StorageError']);

/** Runs an operator command. Sets the exit code; prints results to standard output and errors to standard error. */
export async function main(args: string[]): Promise<void> {
  const [name = 'help', ...rest] = args;
  if (name === '--version') return console.log(programVersion());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    printHelp();
    process.exitCode = name === 'help' || name === '--help' || name === '-h' ? 0 : 2;
    return;
  }
  if (rest.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(`Usage: valetkey ${command.usage}\n\n  ${command.summary}`);
    return;
  }
  try {
    await command.run(rest);
  } catch (error) {
    if (!(error instanceof Error) || !isExpected(error)) throw error;
    console.error(`valetkey ${name}: ${error.message}`);
    process.exitCode = 1;
  }
}

/**
 * Whether an error is a mistake of the operator, or a file that cannot be accessed. Then only its message is printed,
 * because a stack trace would hide it.
 */
function isExpected(error: Error): boolean {
  return EXPECTED.has(error.name) || 'syscall' in error;
}

function printHelp(): void {
  console.log('Usage: valetkey <command>\n');
  for (const { usage, summary } of Object.values(COMMANDS)) console.log(`  ${usage}\n      ${summary}`);
  console.log('  --version\n      Show the version of this program');
  console.log('\nConfiguration is read from environment variables; docs/operations.md lists them.');
}
