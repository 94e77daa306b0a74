import { parseArgs } from 'node:util';
import { engineFor } from '../db/open-store.ts';
import { databaseLocation, readConfig } from '../http/config/config.ts';
import { dbCopyCommand } from './db-copy.ts';
import { UsageError } from './usage-error.ts';

/**
 * `valetkey db migrate | check | copy`: changes or checks the schema of a database server, or copies the data. Servers
 * that share a database check its schema at the start and never change it.
 */
export async function dbCommand(args: string[]): Promise<void> {
  const [action, ...rest] = args;
  if (action === 'copy') return await dbCopyCommand(rest);
  if (action === 'migrate') return await migrateCommand(rest);
  if (action === 'check') return await checkCommand(rest);
  throw new UsageError('give migrate, check or copy');
}

/** `valetkey db check [--json]`: exits with 1 if a check fails. */
async function checkCommand(args: string[]): Promise<void> {
  const { json } = readFlags(args, ['json']);
  const { engine, location, config } = await openServer();
  const lines = await engine.check(location, { ...config.connections, now: Date.now });
  if (json) console.log(JSON.stringify(lines));
  else for (const { state, name, found } of lines) console.log(`${state.padEnd(4)}  ${name}: ${found}`);
  if (lines.some(({ state }) => state === 'fail')) process.exitCode = 1;
}

/** `valetkey db migrate [--expand | --contract]` */
async function migrateCommand(args: string[]): Promise<void> {
  const isExpand = readPhase(args) === 'expand';
  const { engine, location } = await openServer();
  const report = (message: string) => console.error(message);
  const applied = await engine.migrate(location, Date.now, { until: isExpand ? 'expand' : undefined, report });
  const state = isExpand ? 'Servers of this version can start.' : 'The database has the schema of this version.';
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : state);
}

function readPhase(args: string[]): 'expand' | 'contract' {
  const { expand, contract } = readFlags(args, ['expand', 'contract']);
  if (expand && contract) throw new UsageError('give --expand or --contract, not both');
  return expand ? 'expand' : 'contract';
}

function readFlags<Name extends string>(args: string[], names: Name[]): Partial<Record<Name, boolean>> {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'boolean' as const }]));
    return parseArgs({ args, options }).values as Partial<Record<Name, boolean>>;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function openServer() {
  const { config, secrets } = readConfig(process.env);
  const location = databaseLocation(config, secrets);
  const engine = await engineFor(location);
  const { migrate, check } = engine;
  if (migrate === null || check === null)
    throw new UsageError('the server brings a database file to its version when it starts');
  return { engine: { migrate, check }, location, config };
}
