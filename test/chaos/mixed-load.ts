import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { creation, runCall } from '../crash/load.ts';
import type { ChildServer } from '../support/child-server.ts';
import type { TestResponse } from '../support/server.ts';
import type { ChaosWorld } from './world.ts';

const CLIENTS = 8;
/** A request is repeated for this long, because servers need some time to take over the work of a killed server. */
const PATIENCE_MS = 300_000;
const ACCOUNTS = '/api/v1/connected_accounts';
const AUDIT_EVENTS = '/api/v1/audit_events';

/**
 * Clients that create and delete accounts, read credentials and make calls, and send a request again until a response
 * contains its outcome.
 */
export interface MixedLoad {
  /** The number of requests of each kind with a final response. */
  outcomes: { created: number; deleted: number; read: number; called: number; unknown: number };
  /** Responses that no client should see. */
  faults: string[];
  /** Waits until this many further accounts were created, or a fault has occurred. */
  progress(accounts: number): Promise<void>;
  /** Ends the load after its running requests. */
  end(): Promise<void>;
  /**
   * Checks that acknowledged creations, deletions and reads are stored, and that each call has reached the provider at
   * most once, and an acknowledged call exactly once.
   */
  check(server: ChildServer): Promise<void>;
}

/** Starts the load. @param servers returns the running servers; each request is sent to a random one of them */
export function startMixedLoad(
  world: ChaosWorld,
  scene: { connector: string; toolAccount: string },
  servers: () => readonly ChildServer[],
): MixedLoad {
  const present = new Set<string>();
  const deleted = new Set<string>();
  const outcomes = { created: 0, deleted: 0, read: 0, called: 0, unknown: 0 };
  const nonces = new Map<string, 'done' | 'unknown'>();
  const faults: string[] = [];
  let made = 0;
  let isEnding = false;

  /**
   * Sends a request to any server, and again with the same key to another one, until a response contains its outcome.
   */
  async function untilKnown(send: (server: ChildServer) => Promise<TestResponse>): Promise<TestResponse> {
    for (const until = performance.now() + PATIENCE_MS; ; ) {
      const all = servers();
      const server = all[Math.floor(Math.random() * all.length)] as ChildServer;
      const answer = await Promise.race([send(server).catch(() => undefined), pause(30_000).then(() => undefined)]);
      const isOpen = !answer || answer.status === 503 || answer.body?.code === 'IDEMPOTENCY_KEY_IN_USE';
      if (answer && !isOpen) return answer;
      if (performance.now() > until) throw new Error(`no final response: ${answer?.text}`);
      await pause(200);
    }
  }

  async function create(): Promise<void> {
    const identifier = `chaos-${++made}`;
    const answer = await untilKnown((server) =>
      server.call('POST', ACCOUNTS, creation(scene.connector, identifier, identifier)),
    );
    if (answer.status !== 201) return void faults.push(`create: ${answer.text}`);
    outcomes.created++;
    present.add(answer.body.connected_account.id);
  }

  async function remove(): Promise<void> {
    const [id] = present;
    if (id === undefined) return;
    present.delete(id);
    const answer = await untilKnown((server) => server.call('POST', `${ACCOUNTS}:delete`, { body: { id } }));
    // A repeated request gets 404 if an earlier one deleted the account but its response was lost.
    if (answer.status !== 200 && answer.status !== 404) return void faults.push(`delete: ${answer.text}`);
    outcomes.deleted++;
    deleted.add(id);
  }

  async function read(): Promise<void> {
    const answer = await untilKnown((server) => server.call('GET', `${ACCOUNTS}/auth?id=${scene.toolAccount}`));
    if (answer.status !== 200) return void faults.push(`read: ${answer.text}`);
    outcomes.read++;
  }

  async function call(): Promise<void> {
    const nonce = `effect-${++made}`;
    const entry = { nonce, accountId: scene.toolAccount, key: nonce };
    const answer = await untilKnown((server) => runCall(server, entry));
    if (answer.status === 200) nonces.set(nonce, 'done');
    else if (answer.body.code === 'EXECUTION_OUTCOME_UNKNOWN') nonces.set(nonce, 'unknown');
    else return void faults.push(`call: ${answer.text}`);
    if (answer.status === 200) outcomes.called++;
    else outcomes.unknown++;
  }

  const work = [create, create, call, call, read, read, remove];
  const clients = Array.from({ length: CLIENTS }, async (_, place) => {
    for (let turn = place; !isEnding; turn++) await (work[turn % work.length] as () => Promise<void>)();
  });
  const ended = Promise.all(clients);
  ended.catch((error) => faults.push(String(error)));

  return {
    outcomes,
    faults,
    async progress(accounts) {
      const enough = outcomes.created + accounts;
      while (outcomes.created < enough && faults.length === 0) await pause(50);
    },
    async end() {
      isEnding = true;
      await ended;
    },
    async check(server) {
      expect(faults).to.deep.equal([]);
      const total = (await server.call('GET', `${ACCOUNTS}?page_size=1`)).body.total_size;
      expect(total, 'accounts, and the one for calls').to.equal(present.size + 1);
      for (const id of present)
        expect((await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).status, id).to.equal(200);
      for (const id of deleted)
        expect((await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).status, id).to.equal(404);
      for (const [nonce, outcome] of nonces) {
        const times = world.counterpart.effects.get(nonce) ?? 0;
        if (outcome === 'done') expect(times, nonce).to.equal(1);
        else expect(times, nonce).to.be.at.most(1);
      }
      // A read that was recorded may have ended without a response.
      expect(await recordedReads(server), 'recorded reads of credentials').to.be.at.least(outcomes.read);
      expect(await world.verifyAudit()).to.include('is complete');
    },
  };
}

/** Counts the audit records of all pages, because `total_size` counts to 10,000 only. */
async function recordedReads(server: ChildServer): Promise<number> {
  const query = `${AUDIT_EVENTS}?action=connected_account.credentials_read&page_size=100`;
  let count = 0;
  for (let token = ''; ; ) {
    const page = await server.call('GET', token ? `${query}&page_token=${encodeURIComponent(token)}` : query);
    expect(page.status, page.text).to.equal(200);
    count += page.body.audit_events.length;
    if (!page.body.next_page_token) return count;
    token = page.body.next_page_token;
  }
}
