import { engineFor } from '../db/store.ts';
import { databaseLocation, readConfig } from '../http/config.ts';
import { dbCopyCommand } from './db-copy.ts';
import { UsageError } from './usage-error.ts';

/**
 * `valetkey db migrate | check | copy`: changes or checks the schema of a database server. Servers that share a database check
 * its schema at the start and never change it.
 */
export async function dbCommand(args: string[]): Promise<void> {
  const [action, ...rest] = args;
  if (action === 'copy') return await dbCopyCommand(rest);
  if (rest.length > 0 || (action !== 'migrate' && action !== 'check'))
    throw new UsageError('give migrate, check or copy');
  const { config, secrets } = readConfig(process.env);
  const location = databaseLocation(config, secrets);
  const engine = await engineFor(location);
  if (engine.migrate === null) throw new UsageError('the server brings a database file to its version when it starts');
  if (action === 'migrate') {
    const applied = await engine.migrate(location, Date.now);
    console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database has the schema of this version.');
    return;
  }
  const store = await engine.open({ location, now: Date.now, connections: config.connections });
  await store.close();
  console.log('The database has the schema of this version.');
}
