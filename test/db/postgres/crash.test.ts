import { expect } from 'chai';
import type { createIds } from '../../../core/ids.ts';
import { openStore } from '../../../db/open-store.ts';
import { createCommitOutcomes } from '../../../db/postgres/commit-outcomes.ts';
import { createReaders } from '../../../db/postgres/readers.ts';
import { type EpochSession, withEpoch } from '../../../db/postgres/server-epoch.ts';
import { openSession } from '../../../db/postgres/session.ts';
import { StorageError, type Store } from '../../../db/store.ts';
import { type Cluster, startCluster } from '../../../scripts/postgres/cluster.ts';
import { amount } from '../../support/amount.ts';
import { createTemplate, isAvailable, TEMPLATE } from '../../support/postgres/databases.ts';
import { account, addConnection, addEnvironment, connection, freshIds, NOW } from '../support.ts';

type Environment = Awaited<ReturnType<typeof addEnvironment>>;

/** How often the server is killed under load. */
const KILLS = amount(process.env['POSTGRES_KILLS'], 2);
const WRITERS = 24;

describe('a PostgreSQL server that crashes under load', function () {
  if (!isAvailable()) return;
  this.timeout(600_000 + KILLS * 30_000);
  let cluster: Cluster;
  let store: Store;
  let environment: Environment;
  let connectionId: string;
  const newId: ReturnType<typeof createIds> = freshIds();

  before(async () => {
    cluster = startCluster(['fsync=on', 'full_page_writes=on']);
    await createTemplate(cluster.socket);
    store = await openStore({ location: cluster.url(TEMPLATE), now: () => NOW });
    environment = await addEnvironment(store, newId, 'localhost');
    connectionId = await addConnection(store, environment, connection(newId));
  });

  after(async () => {
    await store.close();
    cluster.stop();
  });

  /**
   * Inserts an account and its audit record in one unit.
   *
   * @returns its id once it is durable; null when the unit failed
   */
  async function write(): Promise<string | null> {
    const row = account(newId, connectionId);
    const entry = { id: newId('aud'), at: NOW, actor: 'cli_1', action: 'created', subjectId: row.id, requestId: null };
    try {
      await store.write(async (tx) => {
        await tx.accounts.insert(environment, row);
        await tx.audit.append(environment, entry);
      });
      return row.id;
    } catch (error) {
      expect((error as Error).name, String(error)).to.match(/^(StorageError|RetryableError)$/);
      return null;
    }
  }

  it('does not confuse a lost transaction with the one that has its number after the crash', async () => {
    const open = withEpoch(() => openSession(cluster.url(TEMPLATE)));
    const insert = "insert into key_checks (kek_id, check_value, created_at) values (gen_random_uuid(), '', 1)";
    const cause = new StorageError('CONNECTION_LOST', 'lost');
    const readers = createReaders(open, 1);
    const { requireCommitted } = createCommitOutcomes(readers);
    /** Inserts a row. @returns the transaction, which is not committed yet */
    const begin = async (session: EpochSession) => {
      const { rows } = await session.query({ text: `begin; ${insert}; select pg_current_xact_id()::text` });
      return { xid: String(rows[0]?.[0]), epoch: session.epoch };
    };
    const session = await open();
    const committed = await begin(session);
    await session.query({ text: 'commit' });
    await requireCommitted(committed, cause);

    // Uses one transaction number. After the crash, this number is used again to store the id of the server's new epoch
    // (the time between two crashes), and the number of `lost` is used again by `reused`.
    await begin(await open());
    const lost = await begin(session);
    cluster.kill();
    cluster.restart();
    const other = await open();
    const reused = await begin(other);
    await other.query({ text: 'commit' });
    expect(reused.xid, 'the control').to.equal(lost.xid);
    await requireCommitted(reused, cause);
    const outcome = await requireCommitted(lost, cause).catch((error) => error);
    expect(outcome).to.include({ name: 'StorageError', code: 'OUTCOME_UNKNOWN' });
    await Promise.all([other.close(), readers.close()]);
  });

  it('acknowledges no commit that was not flushed before the crash', async () => {
    const operator = await withEpoch(() => openSession(cluster.url(TEMPLATE)))();
    const { epoch } = operator;
    const check = () => ({ kekId: newId('job'), checkValue: Buffer.alloc(32), createdAt: NOW });
    const written = () => store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check()));
    await written();
    // Simulates a crash between the commit and the flush: the flush finds another epoch than the transaction did.
    await operator.query({ text: "update server_lives set life = 'another'" });
    expect(await written().catch((error) => error)).to.include({ code: 'OUTCOME_UNKNOWN' });
    await operator.query({ text: 'update server_lives set life = $1', values: [epoch] });
    await operator.close();
  });

  it('loses nothing that was acknowledged, does nothing twice, and is used again without a restart', async () => {
    const acknowledged: string[] = [];
    for (let kills = 0; kills < KILLS; kills++) {
      let isDown = false;
      const load = Array.from({ length: WRITERS }, async () => {
        while (!isDown) {
          const id = await write();
          if (id === null) return;
          acknowledged.push(id);
        }
      });
      const enough = acknowledged.length + 200;
      while (acknowledged.length < enough) await new Promise((resolve) => setImmediate(resolve));
      cluster.kill();
      isDown = true;
      await Promise.all(load);
      cluster.restart();
      let id: string | null = null;
      while (id === null) id = await write();
      acknowledged.push(id);
    }
    const { total } = await store.read.accounts.list(environment, {}, { size: 1 });
    const audit = await store.read.audit.verifyChain(environment);
    expect(audit).to.deep.equal({ intact: true, rows: total });
    expect(total).to.be.at.least(acknowledged.length);
    for (const id of acknowledged) expect((await store.read.accounts.shown(environment, id))?.id).to.equal(id);
  });
});
