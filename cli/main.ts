import { CommanderError } from 'commander';
import { escapeControls } from '../core/text/escape-controls.ts';
import { buildProgram, commandPath } from './build-program.ts';
import { EXIT, exitCodeOf, isExpected } from './exit-codes.ts';

/** Runs a command. Sets the exit code; prints results to standard output, and errors and progress to standard error. */
export async function main(given: string[]): Promise<void> {
  endQuietlyOnClosedPipe();
  if (given[0] === '__complete') {
    const { candidates } = await import('./completion/candidates.ts');
    process.stdout.write((await candidates(given.slice(1))).map((line) => `${line}\n`).join(''));
    return;
  }
  const asksForHelp = given.length === 0 || given[0] === 'help';
  const args = asksForHelp ? [...given.slice(1), '--help'] : given;
  try {
    const program = await buildProgram(args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return endParsing(error, args);
    if (!(error instanceof Error) || !isExpected(error)) throw error;
    printError(args, error.message);
    process.exitCode = exitCodeOf(error);
  }
}

function endParsing({ code, exitCode, message }: CommanderError, args: string[]): void {
  if (exitCode === 0) return;
  process.exitCode = EXIT.usage;
  // A group that was called without one of its commands has already shown its help.
  if (code === 'commander.help') return;
  // The value of an invalid option, or a surplus argument, may be a secret, so it is removed from the message.
  const text = message
    .replace(/^error: /, '')
    .replace(/('--?[\w-]+)=[^\n]*'/, "$1'")
    .replace(/(too many arguments.*? but got \d+):.*/s, '$1');
  const [what = '', hint = ''] = text.split(/\.?\n/);
  const mean = hint.replace(/^\((.*)\)$/, ' $1');
  printError(args, `${what.replace(/\.$/, '')}.${mean} See ${['valetkey', ...commandPath(args)].join(' ')} --help`);
}

/** Prints an error. Line breaks come from the program only; control characters in values are escaped. */
function printError(args: string[], message: string): void {
  const lines = message.split('\n').map(escapeControls);
  process.stderr.write(`${['valetkey', ...commandPath(args)].join(' ')}: ${lines.join('\n')}\n`);
}

/**
 * Exits with the code of SIGPIPE when the reader has closed standard output, as other programs do. Errors of standard
 * error are ignored, because a server must keep running after its terminal was closed.
 */
function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.closedPipe);
  });
  process.stderr.on('error', () => {});
}
