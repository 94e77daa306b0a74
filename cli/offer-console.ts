import { OPERATORS } from '../core/budgets.ts';
import { CONSOLE_PATH, createAddress } from '../core/operators/console-address.ts';
import type { FirstStart } from '../wiring/keys.ts';
import type { Parts } from '../wiring/parts.ts';
import { localOperator } from './commands/console.ts';
import { print } from './first-start.ts';

/** The npm package contains JavaScript and installs the command `valetkey`; a clone of the repository does not. */
const COMMAND = import.meta.filename.endsWith('.ts') ? 'node cli/valetkey.js' : 'valetkey';

/**
 * Prints a one-time address of the console at the first start. At later starts, prints one only on a terminal, and only
 * while the environment has neither a session of an operator nor an unused address. Otherwise prints the command that
 * creates an address, because the output may be a log, which must not contain a secret.
 */
export async function offerConsole(parts: Parts, { client, environment }: FirstStart): Promise<void> {
  if (!parts.config.console) return;
  const live = await parts.store.read.operatorSessions.countLive(environment.id, parts.now(), 1);
  if (client === null && (live > 0 || !process.stderr.isTTY)) {
    print(
      `The console is at ${environment.baseUrl}${CONSOLE_PATH}; this prints an address to log in:`,
      '',
      `  ${COMMAND} console`,
    );
    return;
  }
  const address = await createAddress(parts.store, parts, environment, { operator: localOperator(), role: 'OWNER' });
  print(`Open the console (this address works once, for ${OPERATORS.addressMs / 60_000} minutes):`, '', `  ${address}`);
}
