import type { Command } from '@commander-js/extra-typings';
import { engineFor } from '../../db/open-store.ts';
import { databaseLocation, readConfig } from '../../http/config/config.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../output/print.ts';

/**
 * `valetkey accept-loss`: lets the server start although data is missing that was stored durably, or although the
 * database was copied to another one.
 */
export function configure(command: Command): void {
  command
    .description('Let the server start although data is missing or was copied elsewhere, after it refused to start.')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('accept-loss', 'accept-loss --json'))
    .action(async (options) => {
      const loaded = readConfig(process.env);
      const { databaseFile } = loaded.config;
      const location = databaseLocation(loaded.config, loaded.secrets);
      const engine = await engineFor(location);
      if (await engine.reopen(location)) {
        const text = 'The server starts with this database, without what was changed in its copy.';
        return printResult(options, { reopened: true, missing: [] }, () => text);
      }
      if (engine.files === null) {
        const text = 'There is nothing to accept: this database was not copied to another one.';
        return printResult(options, { reopened: false, missing: [] }, () => text);
      }
      const { files } = engine;
      const missing = files.missingData(databaseFile);
      if (missing.length > 0) files.acceptLoss(databaseFile);
      printResult(options, { reopened: false, missing }, () =>
        missing.length === 0
          ? shown`Nothing is missing from ${databaseFile}.`
          : shown`Accepted as lost: ${missing.join(', ')}. The server starts with the remaining data.`,
      );
    });
}
