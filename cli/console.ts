import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { OPERATORS } from '../core/budgets.ts';
import { createIds } from '../core/ids.ts';
import { openDeploymentKeys } from '../core/keys/deployment.ts';
import { createAddress } from '../core/operators/console-address.ts';
import { ROLES } from '../core/operators/roles.ts';
import { createDigester } from '../core/vault/digest.ts';
import { openStorage, openVault } from './open-storage.ts';
import { createOperatorEvents, readCatalogue } from './operator-events.ts';
import { UsageError } from './usage-error.ts';

/** `valetkey console`: prints a one-time address of the console, while the server runs or not. */
export async function consoleCommand(args: string[]): Promise<void> {
  const { operator, role, environment: wanted } = readOptions(args);
  const { config, secrets, store } = await openStorage();
  try {
    if (!config.console) throw new UsageError('the console is turned off (VALETKEY_CONSOLE=off)');
    const environments = await store.read.environments.list();
    const environment = wanted === undefined ? environments[0] : environments.find(({ id }) => id === wanted);
    if (!environment) throw new UsageError(`there is no environment ${wanted ?? ''}; see valetkey environments list`);
    const newId = createIds(Date.now, randomBytes);
    const tools = { now: Date.now, random: randomBytes, newId };
    const { digest } = await openDeploymentKeys(store, openVault(config, secrets).vault, tools);
    const events = createOperatorEvents(newId, readCatalogue());
    const parts = { ...tools, digester: createDigester(digest), events };
    console.log(await createAddress(store, parts, environment, { operator, role }));
    console.error(`${operator} can log in with it once, as ${role}, within ${OPERATORS.addressMs / 60_000} minutes.`);
  } finally {
    await store.close();
  }
}

/** Returns the name of the user who runs the command, as the default name of the operator. */
export function localOperator(): string {
  try {
    return userInfo().username || 'operator';
  } catch {
    // A user without an entry in the system's list of users.
    return 'operator';
  }
}

function readOptions(args: string[]) {
  const { operator = localOperator(), role: name = 'owner', environment } = parseOptions(args);
  const role = ROLES.find((each) => each === name.toUpperCase());
  if (!role) throw new UsageError('--role must be owner, editor or viewer');
  if (!/^[^\p{Cc}]{1,100}$/u.test(operator)) throw new UsageError('--operator must have 1 to 100 characters');
  return { operator, role, environment };
}

function parseOptions(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args, options: { operator: text, role: text, environment: text } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
