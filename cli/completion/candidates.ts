import type { Command } from 'commander';
import { buildProgram, commandPath } from '../build-program.ts';

/**
 * Returns what can follow on a command line: commands, options, or the values of an option or argument. Each is a word,
 * with a description after a tab. Nothing is returned where a file or a free text belongs.
 *
 * @param words those after the name of the program; the last one is being typed, and can be empty
 */
export async function candidates(words: readonly string[]): Promise<string[]> {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const path = commandPath(before);
  const command = await findCommand(path, before);
  const pending = command.options.find(({ long, required }) => required && long === before.at(-1));
  const all = pending
    ? (pending.argChoices ?? []).map((choice) => [choice, ''])
    : typed.startsWith('-')
      ? command
          .createHelp()
          .visibleOptions(command)
          .map(({ long, description }) => [long ?? '', description])
      : [...wordsOf(command, before.slice(path.length))];
  return all.filter(([word = '']) => word.startsWith(typed)).map((pair) => pair.filter(Boolean).join('\t'));
}

async function findCommand(path: readonly string[], words: readonly string[]): Promise<Command> {
  let command = await buildProgram(words);
  for (const name of path) command = command.commands.find((each) => each.name() === name) ?? command;
  return command;
}

/** The commands of a group, or the values of the next argument of a command. */
function wordsOf(command: Command, rest: readonly string[]): string[][] {
  if (command.commands.length > 0)
    return command
      .createHelp()
      .visibleCommands(command)
      .map((each) => [each.name(), each.summary()]);
  const position = rest.filter((word) => !word.startsWith('-')).length;
  return (command.registeredArguments[position]?.argChoices ?? []).map((choice) => [choice, '']);
}
