import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { verifyKeyChecks } from '../core/vault/key-check.ts';
import { introduceKey, retireKey } from '../core/vault/key-lifecycle.ts';
import { rewrapAll } from '../core/vault/rotate.ts';
import { openStorage, openVault } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

/**
 * How long to wait after a change of the key file. A running server loads it within 250 ms, but data that it encrypted
 * before may not be written to the database yet.
 */
const NOTICE_MS = 1_000;

type Opened = Awaited<ReturnType<typeof openStorage>>;

/**
 * `valetkey keys list | rotate | retire <id>`: works while a server is running, which loads a changed key file
 * automatically.
 */
export async function keysCommand([action, ...args]: string[]): Promise<void> {
  const opened = await openStorage();
  try {
    if (action === 'list' && args.length === 0) await list(opened);
    else if (action === 'rotate' && args.length === 0) await rotate(opened);
    else if (action === 'retire' && args.length === 1) await retire(opened, args[0] as string);
    else throw new UsageError('the actions are: list, rotate, retire <key id>');
  } finally {
    await opened.store.close();
  }
}

async function list({ config, secrets, rotationStore }: Opened): Promise<void> {
  const ring = openVault(config, secrets).source.current();
  for (const id of ring.ids) {
    const records = await rotationStore.countUnder(id);
    console.log(`${id}  ${id === ring.active.id ? 'active' : 'old   '}  ${records} sealed records`);
  }
}

async function rotate({ config, secrets, rotationStore }: Opened): Promise<void> {
  const before = openVault(config, secrets).source.current();
  await verifyKeyChecks(before, rotationStore, Date.now());
  if (secrets.keys) {
    const steps = 'put a new key first there, restart the server, then run this again.';
    console.log(`The keys come from VALETKEY_KEYS: ${steps}`);
  } else {
    console.log(`New active key: ${await introduceKey(config.keysFile, rotationStore, randomBytes, Date.now())}`);
    await setTimeout(NOTICE_MS);
  }

  const { source, vault } = openVault(config, secrets);
  const result = await rewrapAll(vault, source.current(), rotationStore, {
    onProgress: ({ kekId, done, total }) => console.log(`  ${kekId}: ${done} of ${total}`),
  });
  console.log(`${result.done} records brought under ${source.current().active.id}.`);
  for (const { item, error } of result.failed) {
    console.error(`Not opened: ${item.context.table} ${item.context.recordId} (${error.code}); it keeps its old key.`);
  }
  if (result.remaining > 0) {
    console.error(`${result.remaining} records are still under an old key. Run the command again.`);
    process.exitCode = 1;
    return;
  }
  console.log(
    'Every record is under the active key. After a minute, retire the old ones: valetkey keys retire <key id>',
  );
}

async function retire({ config, secrets, rotationStore }: Opened, id: string): Promise<void> {
  const { source } = openVault(config, secrets);
  await retireKey(id, {
    ring: source.current(),
    store: rotationStore,
    keyFile: secrets.keys ? undefined : config.keysFile,
    now: Date.now(),
  });
  console.log(secrets.keys ? `Remove ${id} from VALETKEY_KEYS now.` : `${id} was removed from ${config.keysFile}.`);
}
