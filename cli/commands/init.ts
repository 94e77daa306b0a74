import type { Command } from '@commander-js/extra-typings';
import { readConfig } from '../../http/config/config.ts';
import { initialise } from '../../wiring/initialise.ts';
import { printFirstStart } from '../first-start.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../output/print.ts';

/**
 * `valetkey init`: creates the keys and the first API client for servers that share a database. A server with its own
 * database creates them at its first start.
 */
export function configure(command: Command): void {
  command
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText('after', examples('init', 'init --json > first-client.json'))
    .action(async (options) => {
      const { config, secrets } = readConfig(process.env);
      const firstStart = await initialise({ ...config, logLevel: 'warn' }, secrets);
      const { keyFile, client, environment } = firstStart;
      if (!options.json) printFirstStart(firstStart);
      const result = {
        environment_id: environment.id,
        base_url: environment.baseUrl,
        key_file: keyFile,
        client: client && { id: client.id, secret: client.secret.reveal() },
      };
      printResult(options, result, () => shown`The environment ${environment.id} is served at ${environment.baseUrl}.`);
    });
}
