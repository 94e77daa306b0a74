import type { EnvironmentKind, EnvironmentRow, Store } from '../../db/store.ts';
import { environmentId } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import type { IdPrefix } from '../ids.ts';
import type { Secret } from '../secret.ts';
import { digestClientSecret, mintClientSecret } from '../tokens/client-secret.ts';
import { SCOPES } from '../tokens/scopes.ts';
import type { Digester } from '../vault/digest.ts';

export interface FirstStartDeps {
  now(): number;
  random(size: number): Buffer;
  newId(prefix: IdPrefix): string;
  digester: Digester;
}

const SHOWN_CHARACTERS = 8;

/**
 * Creates an environment with the host of its base URL.
 *
 * @param hosts further host names, lower case and without a port: custom domains
 * @throws UniqueError if another environment has one of the hosts
 */
export async function addEnvironment(
  store: Store,
  deps: Pick<FirstStartDeps, 'now' | 'newId'>,
  kind: EnvironmentKind,
  baseUrl: string,
  hosts: readonly string[] = [],
): Promise<EnvironmentRow> {
  const environment: EnvironmentRow = {
    id: environmentId(deps.newId('env')),
    kind,
    baseUrl,
    settings: {},
    createdAt: deps.now(),
    hosts: [...new Set([new URL(baseUrl).hostname, ...hosts])],
  };
  await store.write((tx) => tx.environments.insert(environment));
  return environment;
}

/**
 * Returns the first environment. If none is stored, it creates a development environment for the base URL. A stored
 * development environment takes over later changes of the base URL, for example another port; a production environment
 * keeps its base URL.
 */
export async function ensureEnvironment(
  store: Store,
  deps: Pick<FirstStartDeps, 'now' | 'newId'>,
  baseUrl: string,
): Promise<EnvironmentRow> {
  const [first] = await store.read.environments.list();
  if (!first) return addEnvironment(store, deps, 'DEVELOPMENT', baseUrl);
  const next = withBaseUrl(first, baseUrl);
  if (next.baseUrl !== first.baseUrl) await store.write((tx) => tx.environments.setBaseUrl(next.id, next.baseUrl));
  return next;
}

/** Returns the first environment as it is after a start with this base URL. */
export function withBaseUrl(first: EnvironmentRow, baseUrl: string): EnvironmentRow {
  return first.kind === 'DEVELOPMENT' ? { ...first, baseUrl } : first;
}

/**
 * Creates or updates the API client that has all scopes. Without a configured client, a new one is created if the
 * environment has no API client. A configured client that was disabled is not enabled again.
 *
 * @param configured id and secret from the operator's configuration; a different secret replaces the stored one
 * @returns the id and the secret of a new client, to be shown once; otherwise null
 */
export async function ensureFirstClient(
  store: Store,
  deps: FirstStartDeps,
  environment: EnvironmentRow,
  configured: { id: string; secret: Secret } | null,
): Promise<{ id: string; secret: Secret } | null> {
  if (configured) {
    await storeClient(store, deps, environment, configured);
    return null;
  }
  const clients = await store.read.apiClients.list(environment.id, { size: 1 });
  if (clients.total > 0) return null;
  const minted = { id: deps.newId('cli'), secret: mintClientSecret(deps.random) };
  await storeClient(store, deps, environment, minted);
  return minted;
}

async function storeClient(
  store: Store,
  deps: FirstStartDeps,
  environment: EnvironmentRow,
  { id, secret }: { id: string; secret: Secret },
): Promise<void> {
  const now = deps.now();
  const digest = digestClientSecret(secret, deps.digester);
  const row = { id: deps.newId('sec'), digest, prefix: secret.reveal().slice(0, SHOWN_CHARACTERS), createdAt: now };
  await store.write(async (tx) => {
    const client = await tx.apiClients.get(environment.id, id, now);
    if (client?.secrets.some((known) => deps.digester.equal(known.digest, digest))) return;
    if (client) {
      await tx.apiClients.rotate(environment.id, id, row, { now, overlapMs: 0 });
      return;
    }
    // A start must not enable a disabled client again. Old disabled clients are removed when there are too many, so a
    // missing client is also looked up in the audit log.
    const { disabled } = await tx.apiClients.totals(environment.id);
    const past = { subjectId: id, action: 'api_client.disabled' };
    const mayBeRemoved = disabled >= STORED.disabledApiClients;
    if (mayBeRemoved && (await tx.audit.list(environment.id, { size: 1 }, past)).rows.length > 0) return;
    await tx.apiClients.insert(environment.id, { id, name: 'First client', scopes: [...SCOPES], createdAt: now }, row);
  });
}
