import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type LoadResult, runLoad } from './load.ts';
import { newAccount } from './operations.ts';
import { type RunningProcess, withProcesses } from './processes.ts';
import { queueEvents } from './queue-events.ts';
import { seed } from './seed.ts';
import { startFlags } from './start-flags.ts';
import { median, percentile } from './statistics.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

/**
 * `make bench-webhooks`: measures the time from a response to the delivery of its event at an idle server. Then it
 * queues 100,000 events for one endpoint, and delivers them for two minutes. Meanwhile it measures requests alternately
 * at this server and at a second one with the same accounts and no endpoint, and the memory of both.
 */
const ROOT = join(import.meta.dirname, '../..');
const CLIENT = { id: 'bench-client', secret: 'vks_bench-client-secret-0123456789' };
const MEASURED_SECONDS = 3;
/** Accounts that requests read. Their creation causes the events of which copies are queued. */
const ACCOUNTS = 1000;
/** How many single events are timed until their delivery, and the pause between them in milliseconds. */
const FIRST = { events: 40, pauseMs: 150 };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '120' },
      // The value of VALETKEY_WEBHOOK_RATE; empty for the server's default.
      rate: { type: 'string', default: '' },
    },
  });
  const events = Number(values.events);
  const longestMs = Number(values.seconds) * 1000;
  mkdirSync(join(ROOT, 'data'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'data', 'bench-webhooks-'));
  const receiver = await startReceiver();
  try {
    await withProcesses(async (start) => {
      const envOf = (name: string) => ({
        DATA_DIR: join(folder, name),
        BASE_URL: 'http://localhost',
        METRICS_PORT: '0',
        MALLOC_ARENA_MAX: '1',
        VALETKEY_RATE_LIMIT: 'off',
        VALETKEY_WEBHOOK_RATE: values.rate,
        VALETKEY_CLIENT_ID: CLIENT.id,
        VALETKEY_CLIENT_SECRET: CLIENT.secret,
        VALETKEY_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
      });
      const startServer = (name: string) =>
        start({
          args: [...startFlags(ROOT), join(ROOT, 'cli/valetkey.js'), 'serve'],
          env: envOf(name),
          readyPath: '/readyz',
          core: 0,
          logFile: join(folder, `${name}.log`),
        });
      const first = await startServer('queued');
      const request = await signIn(first);
      await createEndpoint(request, `http://127.0.0.1:${receiver.port}/`);
      receiver.respond();
      await measureFirst(request, receiver);
      receiver.hold();
      await first.stop();
      console.log(`Queueing ${events} events ...`);
      const queued = await seed(envOf('queued'), ACCOUNTS);
      await queueEvents(envOf('queued'), events);
      const plain = await seed(envOf('plain'), ACCOUNTS);
      const sides = [
        {
          name: 'queued',
          server: await startServer('queued'),
          ...queued,
          ...measured(),
        },
        { name: 'plain', server: await startServer('plain'), ...plain, ...measured() },
      ];
      const watching = setInterval(() => {
        for (const { server, rss } of sides) rss.push(server.rss());
      }, 100);
      const before = receiver.received;
      const cpuBefore = sides.map(({ server }) => server.cpu());
      const startedAt = performance.now();
      receiver.respond();
      for (let round = 0; receiver.received - before < events && performance.now() - startedAt < longestMs; round++) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) side.loads.push(await load(side));
      }
      const seconds = (performance.now() - startedAt) / 1000;
      await sleep(500);
      clearInterval(watching);
      const delivered = receiver.received - before;
      const [atQueued = 0, atPlain = 0] = sides.map(({ server }, place) => server.cpu() - (cpuBefore[place] ?? 0));
      const [sentToQueued = 0, sentToPlain = 0] = sides.map(({ sent }) => sent);
      const perDelivery = (atQueued - (atPlain / sentToPlain) * sentToQueued) / delivered;
      console.log(
        `CPU: ${(atPlain / sentToPlain).toFixed(0)} µs per request without deliveries, ${perDelivery.toFixed(0)} µs per delivery`,
      );
      console.log(
        `${delivered} deliveries in ${seconds.toFixed(0)} s (${(delivered / seconds).toFixed(0)} per second)`,
      );
      for (const { name, rss } of sides) {
        console.log(
          `memory, ${name}: ${(rss[0] as number).toFixed(0)} MB at the start, at most ${Math.max(...rss).toFixed(0)} MB`,
        );
      }
      const [one, two] = sides.map(({ loads }) => loads);
      for (const figure of ['p50', 'p99'] as const) {
        const of = (loads: LoadResult[] = []) => median(loads.map((result) => result[figure]));
        console.log(
          `${figure}: ${of(one).toFixed(2)} ms while delivering, ${of(two).toFixed(2)} ms without: ratio ${(of(one) / of(two)).toFixed(2)}`,
        );
      }
    });
  } finally {
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function measured() {
  return { loads: [] as LoadResult[], rss: [] as number[], sent: 0 };
}

/** Reads accounts over four connections, with pauses as real clients make them. */
function load(side: { server: RunningProcess; accountIds: string[]; token: string; sent: number }) {
  const { server, accountIds, token } = side;
  return runLoad({
    port: server.port,
    connections: 4,
    pauseMs: 5,
    seconds: MEASURED_SECONDS,
    warmUpSeconds: 0.5,
    token,
    request: () => ({
      method: 'GET',
      path: `/api/v1/connected_accounts/details?id=${accountIds[side.sent++ % accountIds.length]}`,
    }),
    status: 200,
    onCounted: () => {},
  });
}

type Send = (path: string, body: object) => Promise<void>;

/**
 * Gets an access token. Returns a function that sends POST requests with it, and throws for an error response.
 */
async function signIn({ port }: RunningProcess): Promise<Send> {
  const origin = `http://127.0.0.1:${port}`;
  const form = { grant_type: 'client_credentials', client_id: CLIENT.id, client_secret: CLIENT.secret };
  const issued = await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, body) => {
    const response = await fetch(`${origin}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text}`);
  };
}

function createEndpoint(send: Send, url: string): Promise<void> {
  return send('/webhook_endpoints', { url, event_types: ['connected_account.created'] });
}

/** Prints the time from the response to the delivery of its event, while nothing else happens. */
async function measureFirst(send: Send, receiver: Receiver): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < FIRST.events; count++) {
    const { promise: received, resolve } = Promise.withResolvers<number>();
    receiver.onReceived = () => resolve(performance.now());
    await send('/connected_accounts', newAccount(`first-${count}@example.com`));
    const respondedAt = performance.now();
    times.push((await received) - respondedAt);
    await sleep(FIRST.pauseMs);
  }
  receiver.onReceived = () => {};
  const sorted = Float64Array.from(times).sort();
  const [p50, p99] = [0.5, 0.99].map((part) => percentile(sorted, part).toFixed(0));
  console.log(`first delivery of an idle server: p50 ${p50} ms, p99 ${p99} ms after the response`);
}

await main();
