import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { moduleOf } from '../core/authorization/registry.ts';
import { inspectConnection } from '../core/connections/inspect.ts';
import { createCatalogue } from '../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import { createEgress } from '../core/net/egress.ts';
import type { Check } from '../core/oauth/check.ts';
import { inspectProvider } from '../core/oauth/inspect.ts';
import type { ConnectionRow, EnvironmentRow } from '../db/store.ts';
import { readConfig } from '../http/config/config.ts';
import { policyOf } from './egress-policy.ts';
import { openStorage } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

const CATALOGUE = join(import.meta.dirname, '../generated/catalogue.json');

/** `valetkey doctor <connector>`: exits with 1 if the configuration differs from what the provider publishes. */
export async function doctorCommand(args: string[]): Promise<void> {
  const { connector, connection: keyId, environment, issuer } = readOptions(args);
  const catalogue = createCatalogue(readCatalogueIndex(readFileSync(CATALOGUE, 'utf8')));
  const provider = catalogue.provider(connector);
  if (!provider) throw new UsageError(`there is no connector ${connector}`);
  const { config } = readConfig(process.env);
  const found = keyId === undefined ? undefined : await findConnection(keyId, environment);
  const patterns = provider.authPatterns.filter(
    ({ type }) => moduleOf(type).metadataGrant !== undefined && (found === undefined || found.connection.type === type),
  );
  const egress = createEgress(policyOf(config, found?.environment.kind));
  const checks = found === undefined ? [] : inspectConnection(provider, found.connection);
  try {
    for (const pattern of patterns) {
      checks.push(...(await inspectProvider({ pattern, issuer, fetchFor: egress.pinnedFetch, now: Date.now })));
    }
  } finally {
    await egress.close();
  }
  for (const check of checks) console.log(lineOf(check));
  if (checks.length === 0) console.log(`${connector} has no OAuth that could be compared.`);
  if (checks.some(({ verdict }) => verdict === 'differs')) process.exitCode = 1;
}

function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { connection: text, environment: text, issuer: text };
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const [connector, ...rest] = positionals;
    if (connector !== undefined && rest.length === 0) return { connector, ...values };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  throw new UsageError('name one connector: doctor <connector> [--connection <key_id>] [--issuer <https address>]');
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
    if (!only) throw new UsageError(`there is no connection ${keyId}`);
    if (more.length === 0) return only;
    throw new UsageError(`several environments have a connection ${keyId}: choose one with --environment <id>`);
  } finally {
    await store.close();
  }
}

/** Formats a check as one line, even if the provider's metadata contains line breaks. */
function lineOf({ what, verdict, expected, found }: Check): string {
  const line = `${verdict.padEnd(7)}  ${what}: expected ${expected}; found ${found}`;
  return line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
