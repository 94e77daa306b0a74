import type { Command } from '@commander-js/extra-typings';

/** The requirements of a command, which its help states. */
export type Needs = 'files' | 'api' | 'nothing';

/** A command. Its module is loaded when it runs or shows its help, because most commands need few modules. */
export interface CommandLeaf {
  summary: string;
  needs: Needs;
  /** An earlier name of a command. It still works, but help and completion do not list it. */
  hidden?: true;
  load(): Promise<CommandModule>;
}

/** The module of a command. */
export interface CommandModule {
  /** Declares the arguments, options, examples and the action. */
  configure(command: Command): void;
}

/** Commands under a common name, such as `valetkey keys`. */
export interface CommandGroup {
  summary: string;
  commands: CommandTable;
}

export type CommandNode = CommandLeaf | CommandGroup;
export type CommandTable = Readonly<Record<string, CommandNode>>;

export function isGroup(node: CommandNode): node is CommandGroup {
  return 'commands' in node;
}

/** Returns the command or group with a name. */
export function childOf(table: CommandTable, name: string | undefined): CommandNode | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}
