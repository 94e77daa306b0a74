import { Argument, type Command } from '@commander-js/extra-typings';
import { SCRIPTS } from '../completion/scripts.ts';
import { examples } from '../output/print.ts';

/** `valetkey completion`: prints the script that a shell loads. */
export function configure(command: Command): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish'] as const))
    .addHelpText(
      'after',
      `${examples('completion bash > /etc/bash_completion.d/valetkey', 'completion zsh > ~/.zsh/completions/_valetkey', 'completion fish > ~/.config/fish/completions/valetkey.fish')}\n\nOr for this session: source <(valetkey completion bash)`,
    )
    .action((shell) => {
      process.stdout.write(`${SCRIPTS[shell]}\n`);
    });
}
