import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { account, addConnection, addEnvironment, connection, freshIds } from '../support.ts';

/**
 * Writes accounts through a store until it is killed. It prints `ready`, then the id of each account whose insert was
 * acknowledged, one per line. It removes about a third of these accounts: it prints `?id` before, and `-id` when the
 * removal was acknowledged. Every fifth insert fails on purpose.
 */
const [file = '', round = ''] = process.argv.slice(2);
// A short log, so that the process is also killed during checkpoints.
const logBounds = { piece: 16, length: 64, lastPiece: 8, backlog: 1000 };
const store = await openSqliteStore({ path: file, now: () => Number(round), logBounds });
const newId = freshIds();
const known = await store.read.environments.byHost('localhost');
const env = known?.id ?? (await addEnvironment(store, newId, 'localhost'));
const connectionId =
  (await store.read.connections.byKeyId(env, 'github'))?.id ?? (await addConnection(store, env, connection(newId)));
let count = 0;

async function writer(): Promise<never> {
  for (;;) {
    const row = account(newId, connectionId, { credentialsSealed: Buffer.alloc(600, round) });
    const fails = count++ % 5 === 0;
    const unit = store.write(async (tx) => {
      await tx.accounts.insert(env, row);
      if (fails) throw new Error('on purpose');
    });
    if (
      await unit.then(
        () => false,
        () => true,
      )
    )
      continue;
    process.stdout.write(`${row.id}\n`);
    if (count % 3 !== 0) continue;
    // Printed before the removal: if the process is killed from now on, the row may or may not exist.
    process.stdout.write(`?${row.id}\n`);
    await store.write((tx) => tx.accounts.remove(env, row.id, 1));
    process.stdout.write(`-${row.id}\n`);
  }
}

process.stdout.write('ready\n');
await Promise.all(Array.from({ length: 8 }, writer));
