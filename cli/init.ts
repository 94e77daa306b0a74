import { readConfig } from '../http/config/config.ts';
import { initialise } from '../wiring/initialise.ts';
import { printFirstStart } from './first-start.ts';
import { UsageError } from './usage-error.ts';

/**
 * `valetkey init`: creates the keys and the first API client for servers that share a database. A server with its own
 * database creates them at its first start.
 */
export async function initCommand(args: string[]): Promise<void> {
  if (args.length > 0) throw new UsageError('takes no arguments; environment variables configure it');
  const { config, secrets } = readConfig(process.env);
  const firstStart = await initialise({ ...config, logLevel: 'warn' }, secrets);
  printFirstStart(firstStart);
  console.log(`The environment ${firstStart.environment.id} is served at ${firstStart.environment.baseUrl}.`);
}
