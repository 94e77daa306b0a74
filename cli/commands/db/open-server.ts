import { engineFor } from '../../../db/open-store.ts';
import { databaseLocation, readConfig } from '../../../http/config/config.ts';
import { UsageError } from '../../usage-error.ts';

/**
 * Returns the engine of the database server that `DATABASE_URL` names, with its address and the settings. A Valetkey
 * server only checks the schema of such a database when it starts, so operators migrate it with a command.
 *
 * @throws UsageError if the database is a file
 */
export async function openServer() {
  const { config, secrets } = readConfig(process.env);
  const location = databaseLocation(config, secrets);
  const { migrate, check } = await engineFor(location);
  if (migrate === null || check === null)
    throw new UsageError('this command is only for PostgreSQL: the server migrates a database file when it starts');
  return { engine: { migrate, check }, location, config };
}
