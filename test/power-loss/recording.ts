import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../scripts/demo/process.ts';
import { API_ORIGIN, type Counterpart } from '../crash/counterpart.ts';
import { createLedger } from '../crash/ledger.ts';
import { type FileScene, runCall, useGrant } from '../crash/load.ts';
import { prepareScene } from '../crash/scene.ts';
import { createAccount } from '../support/accounts.ts';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { selectRows } from '../support/database-file.ts';
import { acknowledged, change, createHistory, type History, type Subject } from './history.ts';
import { type FileEvent, isComplete, parseTrace, recorder } from './trace.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

/** Counts grants over all recordings of a process, because they share a provider. */
let grants = 0;

export interface Recording {
  events: FileEvent[];
  history: History;
  keys: Buffer;
}

export interface RecordOptions {
  /** An existing folder, in which the first start creates its data directory. */
  folder: string;
  dataDir: string;
  counterpart: Counterpart;
  /** How many changes each of the two servers acknowledges. */
  changes: number;
  /** Statements that the servers run before they start. */
  before?: string;
  /** After how many syncs of a thread the first server's syncs fail. */
  failing?: number;
}

/**
 * Records two servers: one that creates its data directory, works and is killed, and one that starts with its files,
 * works and is stopped.
 */
export async function record({
  folder,
  dataDir,
  counterpart,
  changes,
  before,
  failing,
}: RecordOptions): Promise<Recording> {
  const history = createHistory();
  const events: FileEvent[] = [];
  let scene: FileScene | undefined;
  for (const [run, signal] of [
    [1, 'SIGKILL'],
    [2, 'SIGTERM'],
  ] as const) {
    const file = `${folder}.trace-${run}`;
    const server = await startChildServer(await serverEnvironment(dataDir, counterpart), {
      before,
      through: recorder(file, run === 1 ? failing : undefined),
    });
    try {
      scene ??= {
        ...(await prepareScene(server, { ledger: createLedger(), counterpart })),
        databaseFile: join(dataDir, 'valetkey.db'),
      };
      const changing = runChanges(server, scene, history, { changes, run });
      // With failing syncs, the first request that is rejected ends the run.
      await (run === 1 && failing !== undefined ? changing.catch(() => {}) : changing);
      // The server removes deleted data from its files shortly after the response.
      await pause(1_000);
    } finally {
      await server.stop(signal);
    }
    while (!isComplete(file)) await pause(20);
    events.push(...renumbered(parseTrace(readFileSync(file, 'latin1'), folder), run));
  }
  return { events, history, keys: readFileSync(`${dataDir}/keys`) };
}

export async function serverEnvironment(dataDir: string, counterpart: Counterpart): Promise<Record<string, string>> {
  const port = await freePort();
  return {
    DATA_DIR: dataDir,
    PORT: String(port),
    METRICS_PORT: '0',
    BASE_URL: `http://127.0.0.1:${port}`,
    VALETKEY_ENDPOINT_OVERRIDES: counterpart.upstream.endpointOverride(API_ORIGIN),
  };
}

/** Numbers the syncs of a run, so that the numbers are unique in the recording. */
function renumbered(events: FileEvent[], run: number): FileEvent[] {
  return events.map((event) => ('sync' in event ? { ...event, sync: event.sync + run * 1e9 } : event));
}

/** Runs six clients, each of which creates, updates and deletes its own accounts, runs tools and refreshes tokens. */
async function runChanges(
  server: ChildServer,
  scene: FileScene,
  history: History,
  { changes, run }: { changes: number; run: number },
) {
  let left = changes;
  const client = async (_value: unknown, number: number) => {
    const grant = await makeGrant(server, scene, history, `grant${++grants}`);
    let account: Subject | undefined;
    for (let round = 0; left > 0; round++, left--) {
      const name = `account-${run}-${number}-${round}`;
      const kind = round % 6;
      if (kind === 0 || !account) account = await makeAccount(server, scene, history, name);
      else if (kind === 1 || kind === 3) await update(server, account, round);
      else if (kind === 2) await call(server, scene, history, name);
      else if (kind === 4) await refresh(server, scene, grant);
      // Only every second account is deleted. The others remain as they are.
      else if (round % 12 === 5) account = await remove(server, account);
    }
  };
  await Promise.all(Array.from({ length: 6 }, client));
}

async function makeAccount(server: ChildServer, { keyedConnector }: FileScene, history: History, identifier: string) {
  const connectedAccount = {
    api_config: { version: 0 },
    authorization_details: { static_auth: { details: { api_key: `secret-key-of-${identifier}` } } },
  };
  const sentAt = Date.now();
  const { id } = await createAccount(server, { connector: keyedConnector, identifier, connectedAccount });
  const subject: Subject = { id, steps: [{ version: 0, sentAt, ackedAt: acknowledged() }] };
  history.accounts.push(subject);
  return subject;
}

async function update(server: ChildServer, account: Subject, version: number) {
  await change(account, version, async () => {
    const body = { id: account.id, connected_account: { api_config: { version } } };
    expectStatus(await server.call('PUT', ACCOUNTS, { body }), 200);
    return undefined;
  });
}

async function remove(server: ChildServer, account: Subject) {
  await change(account, null, async () => {
    expectStatus(await server.call('POST', `${ACCOUNTS}:delete`, { body: { id: account.id } }), 200);
    return undefined;
  });
  return undefined;
}

async function call(server: ChildServer, { toolAccount }: FileScene, history: History, nonce: string) {
  const answer = await runCall(server, { nonce, accountId: toolAccount, key: nonce });
  expectStatus(answer, 200);
  history.calls.push({ executionId: answer.body.execution_id, ackedAt: acknowledged() });
}

async function makeGrant(
  server: ChildServer,
  { oauthConnector, databaseFile }: FileScene,
  history: History,
  name: string,
) {
  const oauth_token = { access_token: `${name}-0`, refresh_token: `${name}.0` };
  const connectedAccount = { authorization_details: { oauth_token } };
  const sentAt = Date.now();
  const { id } = await createAccount(server, { connector: oauthConnector, identifier: name, connectedAccount });
  const step = { version: generationOf(databaseFile, id), sentAt, ackedAt: acknowledged() };
  const subject: Subject = { id, steps: [step] };
  history.grants.push(subject);
  return subject;
}

/** The tokens of a grant are valid for a second, so that most calls refresh them. */
async function refresh(server: ChildServer, { databaseFile }: FileScene, grant: Subject) {
  await change(grant, null, async () => {
    expectStatus(await useGrant(server, grant.id), 200);
    return generationOf(databaseFile, grant.id);
  });
}

function generationOf(databaseFile: string, accountId: string): number {
  const [row] = selectRows(databaseFile, 'select credential_generation as value from accounts where id = ?', accountId);
  return Number(row?.['value']);
}

function expectStatus({ status, text }: { status: number; text: string }, expected: number): void {
  if (status !== expected) throw new Error(`${status}: ${text}`);
}
