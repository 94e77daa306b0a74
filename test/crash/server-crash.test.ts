import { once } from 'node:events';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { Random } from '../fuzz/random.ts';
import { unknownId } from '../support/accounts.ts';
import { amount } from '../support/amount.ts';
import { type ChildServer, runCommand, spawnServer, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { checkAudit, checkServer } from './check.ts';
import { checkAccount } from './check-accounts.ts';
import { API_ORIGIN, type Counterpart, startCounterpart } from './counterpart.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { type FileScene, runLoad } from './load.ts';
import { prepareScene } from './scene.ts';

/** `make crash` runs the long form. */
const KILLS = amount(process.env['CRASH_KILLS'], 3);
const SEED = amount(process.env['CRASH_SEED'], Math.floor(Math.random() * 2 ** 32), 0);

describe(`a server that is killed ${KILLS} times under mixed load (F12, F13), seed ${SEED}`, () => {
  const folder = tempDir();
  const random = new Random(SEED);
  const ledger = createLedger();
  let counterpart: Counterpart;
  let server: ChildServer;
  let scene: FileScene;
  let starts = 0;

  before(async () => {
    counterpart = await startCounterpart();
    server = await start();
    const databaseFile = join(folder.path, 'valetkey.db');
    scene = { ...(await prepareScene(server, { ledger, counterpart })), databaseFile };
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await counterpart.upstream.stop();
    folder.remove();
  });

  async function environment(): Promise<Record<string, string>> {
    const port = await freePort();
    const overrides = counterpart.upstream.endpointOverride(API_ORIGIN);
    const origin = { PORT: String(port), METRICS_PORT: '0', BASE_URL: `http://127.0.0.1:${port}` };
    return { DATA_DIR: folder.path, VALETKEY_ENDPOINT_OVERRIDES: overrides, ...origin };
  }

  /**
   * Each server starts a minute later than the one before, so that the leases of interrupted refreshes have expired.
   */
  async function start(): Promise<ChildServer> {
    starts++;
    return startChildServer(await environment(), { before: clockAhead(starts * 60_000) });
  }

  /** Kills a server while it starts, when it moves the log of the killed server into the main file. */
  async function killWhileStarting(): Promise<void> {
    const child = spawnServer(await environment(), { before: clockAhead(starts * 60_000) });
    const gone = once(child, 'close');
    await new Promise((resolve) => setTimeout(resolve, random.below(600)));
    child.kill('SIGKILL');
    await gone;
  }

  /** Kills the server after some acknowledgements, while further requests are running. */
  async function killUnderLoad(): Promise<void> {
    const until = ledger.acknowledged + 20 + random.below(100);
    const load = runLoad(server, scene, ledger, random);
    while (ledger.acknowledged < until && ledger.faults.length === 0) await new Promise(setImmediate);
    await server.stop('SIGKILL');
    await load;
  }

  it('is reported when data is missing (control)', async () => {
    const nothing = { ...createLedger(), imports: ledger.imports, secrets: ledger.secrets, clientId: ledger.clientId };
    const crash = { scene, counterpart, random };
    await checkServer(server, { ...crash, ledger: nothing });
    const id = scene.toolAccount;
    const wrong: Partial<Ledger>[] = [
      { accounts: [{ id: unknownId('ca'), identifier: 'lost', state: 'there', version: 0 }] },
      { accounts: [{ id, identifier: 'tools', state: 'deleted', version: 0 }] },
      { accounts: [{ id, identifier: 'tools', state: 'there', version: 9 }] },
      { calls: [{ nonce: 'never', accountId: id, executionId: unknownId('exec') }] },
      { readExecutions: [unknownId('exec')] },
      { grants: [{ id: unknownId('ca'), name: 'lost', isDoubtful: false, rotations: 0 }] },
      { linked: new Set(['lost']) },
      { secrets: ['not-the-secret'] },
      { imports: [2] },
      { faults: ['500'] },
    ];
    for (const entry of wrong) {
      const noticed = await checkServer(server, { ...crash, ledger: { ...nothing, ...entry } }).then(
        () => null,
        (error: Error) => error.name,
      );
      expect(noticed, JSON.stringify(entry)).to.equal('AssertionError');
    }
  });

  it('has everything that was acknowledged, complete and correct, and nothing twice', async function () {
    this.timeout(600_000 + KILLS * 30_000);
    for (let kill = 1; kill <= KILLS; kill++) {
      const rotated = kill % 20 === 2 ? rotateKeys() : undefined;
      await killUnderLoad();
      await rotated;
      if (kill % 4 === 3) await killWhileStarting();
      server = await start();
      await checkServer(server, { scene, ledger, counterpart, random });
      if (kill % 50 === 0) console.log(`    ${kill} kills, ${ledger.acknowledged} acknowledged`);
    }
    expect(ledger.acknowledged).to.be.greaterThan(KILLS * 20);
  });

  it('still has all data at the end, in an intact database', async function () {
    this.timeout(600_000 + ledger.accounts.length * 100);
    for (const account of ledger.accounts) await checkAccount(server, scene, account);
    await checkAudit(scene);
    expect((await server.stop()).code).to.equal(0);
    const client = new Database(scene.databaseFile);
    expect(client.pragma('integrity_check', { simple: true })).to.equal('ok');
    expect(client.pragma('foreign_key_check')).to.deep.equal([]);
    client.prepare("insert into accounts_search (accounts_search, rank) values ('integrity-check', 1)").run();
    client.close();
  });

  /** Rotates the keys in a separate process, which continues while the server is killed. */
  async function rotateKeys(): Promise<void> {
    const { code, stderr } = await runCommand(['keys', 'rotate'], { DATA_DIR: folder.path });
    expect(code, stderr).to.equal(0);
  }
});

/** Statements that set the clock of a process ahead, in milliseconds. */
function clockAhead(ms: number): string {
  return `const now = Date.now; Date.now = () => now() + ${ms};`;
}
