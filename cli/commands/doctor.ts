import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { diagnose } from '../../core/connections/diagnose.ts';
import { createCatalogue } from '../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import { createEgress } from '../../core/net/egress.ts';
import type { Check } from '../../core/oauth/check.ts';
import type { ConnectionRow, EnvironmentRow } from '../../db/store.ts';
import { readConfig } from '../../http/config/config.ts';
import { policyOf } from '../egress-policy.ts';
import { EXIT } from '../exit-codes.ts';
import { openStorage } from '../open-storage.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult } from '../output/print.ts';
import { table } from '../output/table.ts';
import { UsageError } from '../usage-error.ts';

const CATALOGUE = join(import.meta.dirname, '../../generated/catalogue.json');

/**
 * `valetkey doctor <connector>`: compares a connector, and with `--connection` also a connection, with what the
 * provider publishes. Exits with 1 if something differs.
 */
export function configure(command: Command): void {
  command
    .argument('<connector>', 'a connector of the catalogue, such as github')
    .option('--connection <key_id>', 'compare the settings of this connection too; only this needs the database')
    .option('--environment <id>', 'the environment of the connection, if several have it')
    .option('--issuer <address>', 'where the provider publishes its metadata')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText(
      'after',
      examples(
        'doctor github',
        'doctor github --connection github-eu',
        'doctor okta --issuer https://mycompany.okta.com',
      ),
    )
    .action(async (connector, options) => {
      const checks = await inspect(connector, options);
      printResult(options, checks, () => {
        if (checks.length === 0) return `${connector} has no OAuth that could be compared.`;
        const columns = {
          VERDICT: ({ verdict }: Check) => verdict,
          CHECK: ({ what }: Check) => what,
          EXPECTED: ({ expected }: Check) => expected,
          FOUND: ({ found }: Check) => found,
        };
        return table(columns, checks);
      });
      if (checks.some(({ verdict }) => verdict === 'differs')) process.exitCode = EXIT.failed;
    });
}

interface Options {
  connection?: string | undefined;
  environment?: string | undefined;
  issuer?: string | undefined;
}

async function inspect(connector: string, { connection: keyId, environment, issuer }: Options): Promise<Check[]> {
  const catalogue = createCatalogue(readCatalogueIndex(readFileSync(CATALOGUE, 'utf8')));
  const provider = catalogue.provider(connector);
  if (!provider) {
    const advice = 'for a connection to a custom provider, use valetkey connections doctor';
    throw new UsageError(`there is no built-in connector "${connector}"; ${advice}`);
  }
  const { config } = readConfig(process.env);
  const found = keyId === undefined ? undefined : await findConnection(keyId, environment);
  const egress = createEgress(policyOf(config, found?.environment.kind));
  const request = { issuer, fetchFor: egress.pinnedFetch, now: Date.now };
  return diagnose(provider, found?.connection, request).finally(() => egress.close());
}

async function findConnection(
  keyId: string,
  wanted: string | undefined,
): Promise<{ environment: EnvironmentRow; connection: ConnectionRow }> {
  const { store } = await openStorage();
  try {
    const found = [];
    for (const environment of await store.read.environments.list()) {
      if (wanted !== undefined && environment.id !== wanted) continue;
      const connection = await store.read.connections.byKeyId(environment.id, keyId);
      if (connection) found.push({ environment, connection });
    }
    const [only, ...more] = found;
    if (!only) throw new UsageError(`there is no connection "${keyId}"; valetkey connections list shows them`);
    if (more.length === 0) return only;
    throw new UsageError(`several environments have a connection "${keyId}": choose one with --environment <id>`);
  } finally {
    await store.close();
  }
}
