import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildProgram } from '../../cli/build-program.ts';
import { type CommandTable, isGroup } from '../../cli/command-node.ts';
import { COMMANDS } from '../../cli/command-table.ts';
import { type ChildOptions, type CommandResult, runCommand } from './child-server.ts';
import { CLIENT_ID, CLIENT_SECRET } from './server.ts';

/** The variables with which commands reach a server. */
export function apiEnv({ origin }: { origin: string }): Record<string, string> {
  return { VALETKEY_URL: origin, VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
}

/** Returns a function that runs commands of the API against a server. */
export function commandsFor(server: { origin: string }, env: Record<string, string> = {}) {
  return (args: string[], options: ChildOptions = {}): Promise<CommandResult> =>
    runCommand(args, { ...apiEnv(server), ...env }, options);
}

/** Returns the words of every command that is not a group, such as `['keys', 'list']`. */
export function allCommands(table: CommandTable = COMMANDS, before: string[] = []): string[][] {
  return Object.entries(table).flatMap(([name, node]) =>
    isGroup(node) ? allCommands(node.commands, [...before, name]) : [[...before, name]],
  );
}

/** Returns the words of every group, such as `['keys']`. */
export function allGroups(table: CommandTable = COMMANDS, before: string[] = []): string[][] {
  return Object.entries(table).flatMap(([name, node]) =>
    isGroup(node) ? [[...before, name], ...allGroups(node.commands, [...before, name])] : [],
  );
}

/** Returns the long options of a command. */
export async function optionsOf(words: string[]): Promise<string[]> {
  let command = await buildProgram(words);
  for (const word of words) command = command.commands.find((each) => each.name() === word) ?? command;
  return command.options.map(({ long }) => long ?? '');
}

/** Starts a server that is not Valetkey. */
export async function startFakeServer(listener: RequestListener): Promise<{ origin: string; stop(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
