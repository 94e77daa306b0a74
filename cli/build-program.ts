import { styleText } from 'node:util';
import { Command } from 'commander';
import { programVersion } from '../core/program-version.ts';
import { type CommandLeaf, type CommandTable, childOf, isGroup, type Needs } from './command-node.ts';
import { COMMANDS, SECTIONS } from './command-table.ts';
import { loadEnvFile } from './env-file.ts';
import { examples, note } from './output/print.ts';

const FOOTER = 'Environment variables configure it: docs/cli.md and docs/operations.md list them.';

const NEEDS: Record<Needs, string> = {
  files:
    '\nNeeds the settings of the server, its database and its keys (DATA_DIR, DATABASE_URL, VALETKEY_KEYS), not a token.',
  api: '\nSends requests to the server at VALETKEY_URL, with VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET, or VALETKEY_TOKEN.',
  nothing: '',
};

/**
 * Builds the commands for a command line. Only the module of the command that the first words name is loaded; the other
 * commands are only declared with their name and summary.
 */
export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('valetkey')
    .description('Gives AI agents authenticated access to third-party applications.')
    .version(programVersion(), '--version', 'show the version of this program')
    .helpOption('-h, --help', 'show help')
    .configureHelp({ styleTitle: bold, styleCommandText: bold, subcommandTerm: (command) => command.name() })
    // main.ts prints errors, with the name of the command.
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  await addCommands(program, COMMANDS, words);
  return program.addHelpText('after', `${examples('serve', 'status', 'accounts list --help')}\n\n${FOOTER}`);
}

/** Returns the words that name a command: the words before the first option that are in the table of commands. */
export function commandPath(words: readonly string[], table: CommandTable = COMMANDS): string[] {
  const [name, ...rest] = words;
  const node = childOf(table, name);
  if (node === undefined || name === undefined) return [];
  return [name, ...(isGroup(node) ? commandPath(rest, node.commands) : [])];
}

async function addCommands(parent: Command, table: CommandTable, words: readonly string[]): Promise<void> {
  // main.ts turns `help <command>` into `<command> --help`, because the `help` of commander does not load the module.
  parent.helpCommand(false).usage('<command> [options]');
  for (const [name, node] of Object.entries(table)) {
    const hidden = !isGroup(node) && node.hidden === true;
    const command = parent.command(name, { hidden }).summary(node.summary).description(sentence(node.summary));
    const section = parent.parent === null ? SECTIONS[name] : undefined;
    if (section !== undefined) command.helpGroup(`${section}:`);
    if (name !== words[0]) continue;
    if (isGroup(node)) await addCommands(command, node.commands, words.slice(1));
    else await addAction(command, node);
  }
}

async function addAction(command: Command, { needs, load }: CommandLeaf): Promise<void> {
  const { configure } = await load();
  // Cast, because only the module of a command infers the types of its options.
  configure(command as unknown as Parameters<typeof configure>[0]);
  if (needs === 'nothing') return;
  command.addHelpText('after', NEEDS[needs]);
  command.option('--env-file <file>', 'read settings from a file; variables that are set take precedence');
  command.hook('preAction', async () => {
    loadEnvFile(command.opts<{ envFile?: string }>().envFile);
    // `serve` writes these warnings to its log instead.
    if (command.name() !== 'serve') await warnOfUnknownSettings();
  });
}

async function warnOfUnknownSettings(): Promise<void> {
  const { unknownSettings } = await import('../http/config/unknown-settings.ts');
  for (const warning of unknownSettings(process.env)) note`Warning: ${warning}`;
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

/** Commander removes the style where the output has no colours. */
function bold(text: string): string {
  return styleText('bold', text, { validateStream: false });
}
