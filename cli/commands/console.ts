import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { type Command, Option } from '@commander-js/extra-typings';
import { OPERATORS } from '../../core/budgets.ts';
import { createIds } from '../../core/ids.ts';
import { openDeploymentKeys } from '../../core/keys/deployment.ts';
import { createAddress } from '../../core/operators/console-address.ts';
import { createDigester } from '../../core/vault/digest.ts';
import { openStorage, openVault } from '../open-storage.ts';
import { createOperatorEvents, readCatalogue } from '../operator-events.ts';
import { examples, JSON_FLAG, JSON_HELP, note, printResult } from '../output/print.ts';
import { UsageError } from '../usage-error.ts';

/** `valetkey console`: prints a one-time address of the console, whether or not the server runs. */
export function configure(command: Command): void {
  const roles = ['owner', 'editor', 'viewer'] as const;
  command
    .option('--operator <name>', 'the name in the audit log; by default the user who runs the command')
    .addOption(new Option('--role <role>', 'what the operator may do').choices(roles).default('owner' as const))
    .option('--environment <id>', 'the environment; by default the first one')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('console', 'console --operator ada@example.com --role viewer'))
    .action(async (options) => {
      const { operator = localOperator(), role } = options;
      if (!/^[^\p{Cc}]{1,100}$/u.test(operator))
        throw new UsageError('--operator must have 1 to 100 characters, and no control characters');
      const address = await addressFor(operator, role, options.environment);
      const minutes = OPERATORS.addressMs / 60_000;
      printResult(options, { address, operator, role, expires_in: minutes * 60 }, () => address);
      if (!options.json)
        note`${operator} can log in with it once, as ${role.toUpperCase()}, within ${minutes} minutes.`;
    });
}

async function addressFor(operator: string, role: 'owner' | 'editor' | 'viewer', wanted: string | undefined) {
  const { config, secrets, store } = await openStorage();
  try {
    if (!config.console)
      throw new UsageError('the console is turned off (VALETKEY_CONSOLE=off); unset it and restart the server');
    const environments = await store.read.environments.list();
    const environment = wanted === undefined ? environments[0] : environments.find(({ id }) => id === wanted);
    if (!environment) {
      if (wanted === undefined) throw new UsageError('there is no environment yet; start the server to create one');
      throw new UsageError(`there is no environment ${wanted}; valetkey environments list shows them`);
    }
    const newId = createIds(Date.now, randomBytes);
    const tools = { now: Date.now, random: randomBytes, newId };
    const { digest } = await openDeploymentKeys(store, openVault(config, secrets).vault, tools);
    const events = createOperatorEvents(newId, readCatalogue());
    const parts = { ...tools, digester: createDigester(digest), events };
    return await createAddress(store, parts, environment, {
      operator,
      role: role.toUpperCase() as Uppercase<typeof role>,
    });
  } finally {
    await store.close();
  }
}

/** Returns the name of the user who runs the command, as the default name of the operator. */
export function localOperator(): string {
  try {
    return userInfo().username || 'operator';
  } catch {
    // The system has no entry for the user.
    return 'operator';
  }
}
