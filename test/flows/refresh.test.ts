import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createWorld, HOUR, type World } from '../core/accounts/refresh-support.ts';
import { closeAll } from '../core/net/local.ts';
import { ISSUER, SECRET, type StrictServer, startStrictServer } from '../core/oauth/strict-server.ts';
import { amount } from '../support/amount.ts';
import type { ChildReply, ChildSetup, ChildTask } from './refresh-child.ts';

/** `make soak` runs more rounds. */
const ROUNDS = amount(process.env['VALETKEY_SOAK_ROUNDS'], 200);
/** The longest time that the test may take: ten minutes, and a second for each round. */
const ROUNDS_MS = 600_000 + ROUNDS * 1_000;
/** Milliseconds; longer than any lease of a refresh. */
const LEASE = 31_000;

describe('refreshing at a strict authorization server over sockets', () => {
  let server: StrictServer;
  let world: World;

  beforeEach(async () => {
    server = await startStrictServer();
    const tokens = { access_token: 'at-0', refresh_token: await server.issue() };
    world = await createWorld({ tokens, client: { id: 'basic', secret: SECRET } });
    world.clock.at += HOUR;
  });
  afterEach(async () => {
    await world.end();
    await closeAll();
  });

  const start = () => world.start(server.pinnedFetch([ISSUER]));

  async function expectGrantAlive(): Promise<void> {
    expect(await server.isAlive(String((await world.tokens())['access_token']))).to.equal(true);
  }

  it('is refused with a wrong secret, and the account stays active (negative control)', async () => {
    await world.end();
    const tokens = { access_token: 'at-0', refresh_token: await server.issue() };
    world = await createWorld({ tokens, client: { id: 'basic', secret: 'wrong' } });
    world.clock.at += HOUR;
    const { refresher } = await start();
    const { account, error } = await refresher.ensureFresh(await world.account(), world.cause);
    expect(error).to.include({ kind: 'upstream_auth' });
    expect(account.status).to.equal('ACTIVE');
  });

  it('is refused with a token that was used before, and the account expires (negative control)', async () => {
    const { refresher } = await start();
    const spent = await world.tokens();
    await refresher.freshen(await world.account(), world.cause);
    await world.replaceTokens(spent);
    expect(await refresher.refreshNow(await world.account(), world.cause)).to.equal(null);
    const account = await world.account();
    expect(account.status).to.equal('EXPIRED');
    expect(account.statusReason).to.match(/invalid_grant/);
  });

  it('sends one request for 200 callers of one process, and the grant remains valid, repeatedly (R1)', async function () {
    this.timeout(ROUNDS_MS);
    const { refresher } = await start();
    for (let round = 1; round <= ROUNDS / 4; round++) {
      const account = await world.account();
      const all = await Promise.all(Array.from({ length: 200 }, () => refresher.freshen(account, world.cause)));
      for (const fresh of all) expect(fresh.credentialGeneration).to.equal(round + 1);
      expect(server.requests()).to.equal(round);
      await expectGrantAlive();
      world.clock.at += HOUR;
    }
  });

  it('sends one request for all callers whose token the provider has rejected', async () => {
    const { refresher } = await start();
    world.clock.at -= HOUR;
    const account = await world.account();
    const all = await Promise.all(Array.from({ length: 200 }, () => refresher.refreshNow(account, world.cause)));
    for (const renewed of all) expect(renewed?.credentialGeneration).to.equal(2);
    expect(server.requests()).to.equal(1);
    await expectGrantAlive();
  });

  describe('in several processes', () => {
    let children: ChildProcess[];

    beforeEach(() => {
      children = [];
    });
    afterEach(() => {
      for (const child of children) child.kill('SIGKILL');
    });

    async function spawn(dies?: ChildSetup['dies']): Promise<ChildProcess> {
      const { file, env, accountId } = world;
      const override = { origin: ISSUER, target: server.origin };
      const setup: ChildSetup = { file, env, accountId, override, name: `child ${children.length}`, dies };
      const child = fork(fileURLToPath(new URL('./refresh-child.ts', import.meta.url)), [JSON.stringify(setup)]);
      children.push(child);
      await once(child, 'message');
      return child;
    }

    async function ask(child: ChildProcess, callers: number): Promise<ChildReply> {
      const task: ChildTask = { at: world.clock.at, callers };
      child.send(task);
      const [answer] = await once(child, 'message');
      return answer as ChildReply;
    }

    it('sends one request for 200 callers of four processes, and the grant remains valid, repeatedly (R1)', async function () {
      this.timeout(ROUNDS_MS);
      const four = await Promise.all([spawn(), spawn(), spawn(), spawn()]);
      for (let round = 1; round <= ROUNDS; round++) {
        const answers = await Promise.all(four.map((child) => ask(child, 50)));
        expect(answers.flatMap(({ generations }) => generations)).to.deep.equal(Array(200).fill(round + 1));
        expect(server.requests()).to.equal(round);
        await expectGrantAlive();
        world.clock.at += HOUR;
      }
    });

    const deaths: [where: NonNullable<ChildSetup['dies']>, status: string, requests: number][] = [
      ['before the claim', 'ACTIVE', 1],
      ['before the request', 'ACTIVE', 1],
      ['before the commit', 'EXPIRED', 2],
      ['after the commit', 'ACTIVE', 1],
    ];
    for (const [where, status, requests] of deaths) {
      it(`leaves an account that works or has a reason why it does not after kill -9 ${where} (R2)`, async () => {
        const child = await spawn(where);
        const task: ChildTask = { at: world.clock.at, callers: 3 };
        child.send(task);
        const [, signal] = await once(child, 'exit');
        expect(signal).to.equal('SIGKILL');
        world.clock.at += LEASE;
        const { refresher } = await start();
        const account = await refresher.freshen(await world.account(), world.cause);
        expect(account.status).to.equal(status);
        expect(server.requests()).to.equal(requests);
        if (status === 'ACTIVE') await expectGrantAlive();
        else expect(account.statusReason).to.match(/interrupted before its result could be stored/);
      });
    }
  });
});
