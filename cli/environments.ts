import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createIds } from '../core/ids.ts';
import { openDeploymentKeys } from '../core/keys/deployment.ts';
import { addEnvironment, ensureFirstClient } from '../core/keys/first-start.ts';
import { createDigester } from '../core/vault/digest.ts';
import { UniqueError } from '../db/store.ts';
import { SET_USAGE, setEnvironment } from './environment-settings.ts';
import { openStorage, openVault } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

type Opened = Awaited<ReturnType<typeof openStorage>>;

/** `valetkey environments list | add | set`: a running server uses a new environment within seconds. */
export async function environmentsCommand([action, ...args]: string[]): Promise<void> {
  const opened = await openStorage();
  try {
    if (action === 'list' && args.length === 0) await list(opened);
    else if (action === 'add') await add(opened, args);
    else if (action === 'set') await setEnvironment(opened.store, args);
    else
      throw new UsageError(
        `the actions are: list, add --kind DEVELOPMENT|PRODUCTION --base-url <origin> [--host <name>]..., ${SET_USAGE}`,
      );
  } finally {
    await opened.store.close();
  }
}

async function list({ store }: Opened): Promise<void> {
  for (const { id, kind, baseUrl, hosts } of await store.read.environments.list()) {
    console.log(`${id}  ${kind.padEnd(11)}  ${baseUrl}  ${hosts.join(', ')}`);
  }
}

async function add({ config, secrets, store }: Opened, args: string[]): Promise<void> {
  const { kind, baseUrl, hosts } = readOptions(args);
  const tools = { now: Date.now, random: randomBytes, newId: createIds(Date.now, randomBytes) };
  const { digest } = await openDeploymentKeys(store, openVault(config, secrets).vault, tools);
  try {
    const environment = await addEnvironment(store, tools, kind, baseUrl, hosts);
    const client = await ensureFirstClient(store, { ...tools, digester: createDigester(digest) }, environment, null);
    console.log(`Created environment ${environment.id} at ${baseUrl}.`);
    if (client)
      console.log(
        `Its first API client, shown this once:\n  id      ${client.id}\n  secret  ${client.secret.reveal()}`,
      );
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    throw new UsageError('another environment has one of these hosts');
  }
}

function readOptions(args: string[]) {
  const { kind, 'base-url': text, host: hosts = [] } = parseOptions(args);
  if (kind !== 'DEVELOPMENT' && kind !== 'PRODUCTION') throw new UsageError('--kind must be DEVELOPMENT or PRODUCTION');
  const url = URL.parse(text ?? '');
  if (!url || url.href !== `${url.origin}/`)
    throw new UsageError('--base-url must be an origin such as https://api.example.com');
  if (kind === 'PRODUCTION' && url.protocol !== 'https:')
    throw new UsageError('a production environment needs an https --base-url');
  const names = hosts.map((name) => URL.parse(`https://${name}`));
  const odd = names.findIndex((name, index) => name?.host !== hosts[index]?.toLowerCase() || name?.port !== '');
  if (odd >= 0) throw new UsageError(`--host must be a host name without a port, and ${hosts[odd]} is none`);
  return { kind, baseUrl: url.origin, hosts: hosts.map((name) => name.toLowerCase()) } as const;
}

function parseOptions(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args, options: { kind: text, 'base-url': text, host: { ...text, multiple: true } } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
