import type { Command } from '@commander-js/extra-typings';
import { EXIT } from '../../exit-codes.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { openServer } from './open-server.ts';

/** `valetkey db check`: checks the schema and the settings of a database server. Exits with 1 if a check fails. */
export function configure(command: Command): void {
  command
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('db check', 'db check --json'))
    .action(async (options) => {
      const { engine, location, config } = await openServer();
      const checks = await engine.check(location, { ...config.connections, now: Date.now });
      printResult(options, checks, () =>
        table({ STATE: ({ state }) => state, CHECK: ({ name }) => name, FOUND: ({ found }) => found }, checks),
      );
      if (checks.some(({ state }) => state === 'fail')) process.exitCode = EXIT.failed;
    });
}
