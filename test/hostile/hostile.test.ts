import { expect } from 'chai';
import { ByteBudget } from '../../core/budgets/byte-budget.ts';
import { BODIES } from '../../core/budgets.ts';
import { bindPorts } from '../../http/connections/bound-server.ts';
import { type RunningServer, startServer } from '../../http/server.ts';
import { createEnvironmentEgress, type EnvironmentEgress } from '../../wiring/environment-egress.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { startLinkServer } from '../support/links.ts';
import type { TestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';
import { type HostileServer, startHostileServer } from './player.ts';
import { SHAPES } from './shapes.ts';
import { KINDS, type Outcome, SECRETS, type Way } from './ways.ts';

/**
 * `make hostile` combines every message with every way (a place in the program that reads bytes of a third party).
 * Without it, each message is tried with one way of each kind, in turn.
 */
const IS_LONG = process.env['HOSTILE'] === 'all';
const AT_ONCE = 32;
/**
 * Short, so that tests with silent parties are fast, but long enough for the preceding steps of a test on a busy
 * machine.
 */
const LIMITS = {
  timeoutMs: 1_000,
  idleTimeoutMs: 300,
  protocolTimeoutMs: 1_000,
  streamTimeoutMs: 1_000,
  streamMaxBytes: 1024 * 1024,
  maxBytes: 1024 * 1024,
  breakerFailures: 1_000_000,
};
const IMPATIENT = {
  headersMs: 400,
  requestMs: 800,
  checkEveryMs: 50,
  firstByteMs: 400,
  watchEveryMs: 50,
  drainMs: 100,
};

interface Case {
  way: Way;
  shape: (typeof SHAPES)[number];
  at: number;
}

const cases: Case[] = SHAPES.flatMap((shape, at) => {
  const ways = KINDS.flatMap((kind) =>
    IS_LONG ? [...new Set(kind)] : kind.slice(at % kind.length, (at % kind.length) + 1),
  );
  return ways.map((way) => ({ way, shape, at }));
});

describe('hostile third parties (E4)', function () {
  if (IS_LONG) this.timeout(1_800_000);
  let server: TestServer;
  let impatient: RunningServer;
  let lively: Upstream;
  let ways: EnvironmentEgress;
  let bodies: ByteBudget;
  let hostile: HostileServer[];
  const outcomes = new Map<Case, { outcome: Outcome | Error; reached: boolean }>();
  /** The statuses of calls to a well-behaved third party, made during the tests. */
  const meanwhile: number[] = [];

  before(async () => {
    hostile = await Promise.all(SHAPES.map((shape) => startHostileServer(shape)));
    lively = await startUpstream((_request, res) => json(res, 200, { ok: true }));
    const overrides = hostile.map(({ port }, at) => `${originOf(at)}=http://127.0.0.1:${port}`);
    const endpointOverrides = [...overrides, lively.endpointOverride(KEYED_ORIGIN)].join();
    bodies = new ByteBudget(BODIES);
    ways = createEnvironmentEgress({ egressAllow: '', endpointOverrides }, bodies, { limits: LIMITS });
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: endpointOverrides },
      overrides: { egressOf: ways.of, bodies },
    });
    const parts = { ...server.parts, config: { ...server.parts.config, port: 0 }, close: async () => {} };
    impatient = await startServer(parts, await bindPorts(parts.config, IMPATIENT));
    await playAll();
  });
  after(async () => {
    await impatient?.stop();
    await server?.stop();
    await ways?.close();
    await Promise.all([...(hostile ?? []).map((one) => one.stop()), lively?.stop()]);
  });

  async function playAll(): Promise<void> {
    const { id } = await createKeyedAccount(server);
    let isOver = false;
    const others = (async () => {
      while (!isOver) meanwhile.push((await execute(server, id, 'http_get', { path: '/' })).status);
    })();
    const shapes = SHAPES.map((_shape, at) => cases.filter((one) => one.at === at));
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(shapes)));
    isOver = true;
    await others;
  }

  async function work(shapes: Case[][]): Promise<void> {
    for (let list = shapes.shift(); list !== undefined; list = shapes.shift()) {
      for (const one of list) outcomes.set(one, await playOne(one));
    }
  }

  async function playOne({ way, shape, at }: Case): Promise<{ outcome: Outcome | Error; reached: boolean }> {
    const party = hostile[at] as HostileServer;
    const origin = originOf(at);
    party.honest = way.honest?.(origin) ?? (() => undefined);
    const played = party.played;
    const environment = await server.parts.environmentOf(new URL(server.origin).host);
    const place = { server, egress: ways.of(environment), impatient: impatient.origin, origin, shape, id: `${at}` };
    // On a busy machine the time of a call can end before the third party receives the request. Then the test is
    // repeated.
    for (let tries = 1; ; tries++) {
      const outcome = await way.try(place).catch((error: Error) => error);
      const reached = way.sends || party.played > (shape.unasked ? 0 : played);
      if (reached || tries === 5) return { outcome, reached };
    }
  }

  for (const one of cases) {
    it(`${one.way.name}: a message that ${one.shape.name}`, () => {
      const { outcome, reached } = outcomes.get(one) as { outcome: Outcome | Error; reached: boolean };
      if (outcome instanceof Error) throw outcome;
      expect(outcome.text).not.to.contain('INTERNAL_ERROR');
      if (one.way.statuses !== null) expect(outcome.status, outcome.text).to.be.oneOf([...one.way.statuses]);
      // The control: a response that shows the redacted place proves that it contained a secret.
      if (one.way.shows && one.shape.name === 'echoes the credential') expect(outcome.text).to.contain('[secret]');
      for (const secret of Object.values(SECRETS)) {
        expect(outcome.text).not.to.contain(secret);
        expect(outcome.text).not.to.contain(Buffer.from(secret).toString('base64').slice(0, -4));
      }
      expect(reached, `was the third party asked? ${outcome.status} ${outcome.text.slice(0, 300)}`).to.equal(true);
    });
  }

  it('leave nothing behind: no memory, no connection, no internal error, no unfinished execution', async () => {
    await ways.close();
    while (bodies.used > 0 || hostile.some(({ open }) => open.size > 0))
      await new Promise((resolve) => setImmediate(resolve));
    expect(bodies.used).to.equal(0);
    const faults = server.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50);
    expect(faults).to.deep.equal([]);
    const unfinished = await server.call('GET', '/api/v1/executions?status=STARTED');
    expect(unfinished.body.total_size).to.equal(0);
  });

  it('do not delay calls to others', () => {
    expect(meanwhile.filter((status) => status === 200).length).to.be.above(20);
    // On a busy machine the short time for a call can end (504), but no call is rejected because other calls occupy its
    // place.
    expect(meanwhile.filter((status) => ![200, 504].includes(status))).to.deep.equal([]);
  });
});

function originOf(at: number): string {
  return `https://n${at}.hostile.example`;
}
