import { type Command, Option } from '@commander-js/extra-typings';
import { examples, JSON_FLAG, JSON_HELP, note, printResult } from '../../output/print.ts';
import { openServer } from './open-server.ts';

/** `valetkey db migrate`: changes the schema of a database server. */
export function configure(command: Command): void {
  command
    .addOption(
      new Option('--expand', 'apply only the changes that servers of the previous version can work with').conflicts(
        'contract',
      ),
    )
    .option('--contract', 'also apply the changes that need all servers to have this version (the default)')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('db migrate', 'db migrate --expand', 'db migrate --contract'))
    .action(async (options) => {
      const { engine, location } = await openServer();
      const until = options.expand ? 'expand' : undefined;
      const applied = await engine.migrate(location, Date.now, { until, report: (message) => note`${message}` });
      const state = until ? 'Servers of this version can start.' : 'The database has the schema of this version.';
      printResult(options, { applied }, () => (applied.length > 0 ? `Applied ${applied.join(', ')}.` : state));
    });
}
