import { engineFor } from '../db/open-store.ts';
import { databaseLocation, readConfig } from '../http/config/config.ts';
import { databaseFiles } from './database-files.ts';
import { UsageError } from './usage-error.ts';

/**
 * `valetkey accept-loss`: lets the server start although data is missing that was stored durably, or although the
 * database was copied to another one.
 */
export async function acceptLossCommand(args: string[]): Promise<void> {
  if (args.length > 0) throw new UsageError('takes no arguments; environment variables configure it');
  const loaded = readConfig(process.env);
  const { config } = loaded;
  const location = databaseLocation(config, loaded.secrets);
  if (await (await engineFor(location)).reopen(location)) {
    console.log('The server starts with this database, without what was changed in its copy.');
    return;
  }
  const files = await databaseFiles(loaded);
  const missing = files.missingData(config.databaseFile);
  if (missing.length === 0) {
    console.log(`Nothing is missing from ${config.databaseFile}.`);
    return;
  }
  files.acceptLoss(config.databaseFile);
  console.log(`Accepted as lost: ${missing.join(', ')}. The server starts with what is there.`);
}
