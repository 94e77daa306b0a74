import { randomBytes } from 'node:crypto';
import { type Command, Option } from '@commander-js/extra-typings';
import { InvalidArgumentError } from 'commander';
import { createIds } from '../../../core/ids.ts';
import { openDeploymentKeys } from '../../../core/keys/deployment.ts';
import { addEnvironment, ensureFirstClient } from '../../../core/keys/first-start.ts';
import { createDigester } from '../../../core/vault/digest.ts';
import { UniqueError } from '../../../db/store.ts';
import { openStorage, openVault } from '../../open-storage.ts';
import { origin } from '../../options.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../../output/print.ts';
import { UsageError } from '../../usage-error.ts';

/** `valetkey environments add`: adds an environment, which a running server uses within seconds. */
export function configure(command: Command): void {
  const kinds = ['DEVELOPMENT', 'PRODUCTION'] as const;
  command
    .addOption(new Option('--kind <kind>', 'the kind of environment').choices(kinds).makeOptionMandatory())
    .requiredOption('--base-url <origin>', 'the address at which clients reach it', origin)
    .option('--host <name>', 'a further host name that selects it; can be repeated', hostName)
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText(
      'after',
      examples(
        'environments add --kind PRODUCTION --base-url https://keys.example.com',
        'environments add --kind DEVELOPMENT --base-url http://localhost:8080 --host dev.example.com',
      ),
    )
    .action(async (options) => {
      const { kind, baseUrl, host: hosts = [] } = options;
      if (kind === 'PRODUCTION' && !baseUrl.startsWith('https:'))
        throw new UsageError('a production environment needs an https --base-url');
      const { environment, client } = await add(kind, baseUrl, hosts);
      const secret = client?.secret.reveal();
      const result = { id: environment.id, kind, base_url: baseUrl, client: client && { id: client.id, secret } };
      printResult(options, result, () => {
        const created = shown`Created environment ${environment.id} at ${baseUrl}.`;
        if (client === null) return created;
        return `${created}\nIts first API client (the secret is shown only once):\n  id      ${client.id}\n  secret  ${secret}`;
      });
    });
}

async function add(kind: 'DEVELOPMENT' | 'PRODUCTION', baseUrl: string, hosts: string[]) {
  const { config, secrets, store } = await openStorage();
  try {
    const tools = { now: Date.now, random: randomBytes, newId: createIds(Date.now, randomBytes) };
    const { digest } = await openDeploymentKeys(store, openVault(config, secrets).vault, tools);
    const environment = await addEnvironment(store, tools, kind, baseUrl, hosts);
    const client = await ensureFirstClient(store, { ...tools, digester: createDigester(digest) }, environment, null);
    return { environment, client };
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    const all = [new URL(baseUrl).hostname, ...hosts].join(', ');
    throw new UsageError(`another environment has one of the hosts ${all}`);
  } finally {
    await store.close();
  }
}

function hostName(text: string, before: string[] | undefined): string[] {
  const name = text.toLowerCase();
  const url = URL.parse(`https://${text}`);
  if (url?.host === name && url.port === '') return [...(before ?? []), name];
  throw new InvalidArgumentError('It must be a host name without a port.');
}
