import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { forwardLines } from '../../cli/serve/forward-lines.ts';
import { joinMetrics } from '../../cli/serve/metrics-of-processes.ts';
import { closeOfferedConnection } from '../../cli/serve/offered-connection.ts';
import type { Ended, OneProcess } from '../../cli/serve/one-process.ts';
import { ProcessError, runProcesses } from '../../cli/serve/processes.ts';
import { shareOf } from '../../cli/serve/share.ts';
import { PROCESSES } from '../../core/budgets.ts';
import { readConfig } from '../../http/config/config.ts';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const POSTGRES_URL = 'postgres://nobody@127.0.0.1:1/none';

describe('valetkey serve --processes with a database file', () => {
  const folder = tempDir();
  const env = { DATA_DIR: folder.path, PORT: '0', BASE_URL: 'http://localhost', METRICS_PORT: '0' };
  after(() => folder.remove());

  for (const [how, args, more] of [
    ['the option', ['serve', '--processes', '2'], {}],
    ['the variable', ['serve'], { VALETKEY_PROCESSES: '2' }],
  ] as const) {
    it(`is refused by ${how} with the reason, before anything is created`, async () => {
      const { code, stdout, stderr } = await runCommand([...args], { ...env, ...more });
      expect(stderr).to.equal(
        'valetkey serve: --processes 2 (VALETKEY_PROCESSES) needs PostgreSQL, because only one process can write a database file: set DATABASE_URL to postgres://…, or use one process\n',
      );
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(readdirSync(folder.path)).to.deep.equal([]);
    });
  }

  it('starts one process if the option is 1, regardless of the variable', async () => {
    const server = await startChildServer({ ...env, VALETKEY_PROCESSES: '1' });
    expect(JSON.parse(server.logs.at(-1) ?? '')).not.to.have.property('processes');
    await server.stop();
    const { stderr } = await runCommand(['serve', '--processes', '1'], {
      ...env,
      VALETKEY_PROCESSES: '2',
      DATABASE_URL: POSTGRES_URL,
    });
    expect(stderr).to.match(/127\.0\.0\.1:1\b/);
  });
});

describe('the number of processes', () => {
  for (const value of ['0', '65', '-1', '1.5', 'two', '007']) {
    it(`cannot be ${value}`, async () => {
      expect(() => readConfig({ VALETKEY_PROCESSES: value })).to.throw(
        'VALETKEY_PROCESSES must be a whole number from 1 to 64',
      );
      if (value === '007') return;
      const { code, stderr } = await runCommand(['serve', `--processes=${value}`], { DATABASE_URL: POSTGRES_URL });
      expect(code).to.equal(2);
      expect(stderr).to.include('--processes').and.include('It must be a whole number from 1 to 64.');
    });
  }

  it('cannot be larger than the number of connections that write', async () => {
    const { code, stderr } = await runCommand(['serve', '--processes', '3'], {
      DATABASE_URL: POSTGRES_URL,
      DATABASE_CONNECTIONS: '2',
    });
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'valetkey serve: --processes 3 (VALETKEY_PROCESSES) needs at least as many connections to the database: DATABASE_CONNECTIONS is 2\n',
    );
  });

  for (const count of [1, 2, 3, 5, 8]) {
    it(`divides connections and deliveries by ${count}, without a rest`, () => {
      const { config } = readConfig({ VALETKEY_PROCESSES: String(count), VALETKEY_WEBHOOK_RATE: '101' });
      const shares = Array.from({ length: count }, (_, index) => shareOf(config, index + 1));
      const sum = (of: (share: (typeof shares)[number]) => number | null | undefined) =>
        shares.reduce((total, share) => total + (of(share) ?? 0), 0);
      expect(sum(({ connections }) => connections.writers)).to.equal(8);
      expect(sum(({ connections }) => connections.readers)).to.equal(Math.max(4, count));
      expect(sum(({ webhookRate }) => webhookRate)).to.equal(101);
      expect(shares.map(({ place }) => place)).to.deep.equal(shares.map((_, index) => index + 1));
      expect(new Set(shares.map(({ metricsPort }) => metricsPort))).to.deep.equal(new Set([0]));
    });
  }
});

describe('the log of several processes', () => {
  it('has complete lines only, however they arrive', () => {
    const passed: string[] = [];
    const output = new PassThrough();
    forwardLines(output, (lines) => passed.push(lines));
    const euro = Buffer.from('{"a":"€"}\n');
    for (const part of ['{"a":', '1}\n{"a":2}\n{"a"', ':3}\n', euro.subarray(0, 7), euro.subarray(7), '{"half'])
      output.write(part);
    expect(passed.join('')).to.equal('{"a":1}\n{"a":2}\n{"a":3}\n{"a":"€"}\n');
    for (const lines of passed) expect(lines).to.match(/\n$/);
  });
});

describe('a connection that was offered to a process', () => {
  function offerTo(...handles: object[]): ChildProcess {
    const process = Object.assign(new EventEmitter(), { send: () => true }) as unknown as ChildProcess;
    closeOfferedConnection(process);
    for (const handle of handles) process.send?.({ cmd: 'NODE_CLUSTER' }, handle as Socket);
    process.send?.({ kind: 'metrics', id: 1 });
    return process;
  }

  it('is closed when the process ends before it takes it, so that its client does not wait for ever', () => {
    const closed: string[] = [];
    const handle = (name: string) => ({ close: () => void closed.push(name) });
    const process = offerTo(handle('earlier, taken'), handle('last'));
    expect(closed).to.deep.equal([]);
    process.emit('exit');
    expect(closed).to.deep.equal(['last']);
  });
});

describe('the metrics of several processes', () => {
  it('keep the values of a metric together, and those of each process apart', () => {
    const of = (place: number, value: number) =>
      `# HELP a_total Counts\n# TYPE a_total counter\na_total{process="${place}"} ${value}\n\n# HELP b Shows\n# TYPE b gauge\nb{process="${place}"} Nan\n`;
    expect(joinMetrics([of(1, 10), of(2, 20)])).to.equal(
      [
        '# HELP a_total Counts\n# TYPE a_total counter\na_total{process="1"} 10\na_total{process="2"} 20\n\n',
        '# HELP b Shows\n# TYPE b gauge\nb{process="1"} Nan\nb{process="2"} Nan\n',
      ].join(''),
    );
  });
});

/** A process whose end the test controls. */
interface FakeProcess extends OneProcess {
  place: number;
  isReplacement: boolean;
  signals: string[];
  becomeReady(): void;
  end(how?: Partial<Ended>): void;
}

describe('the parent of several processes', () => {
  const CRASH = { code: 1, signal: null, wasReady: true, readyMs: 0, failure: undefined };

  function startFakes(count: number) {
    const made: FakeProcess[] = [];
    const pauses: number[] = [];
    const messages: string[] = [];
    let lost = 0;
    const watch = {
      log: { error: (_: object, text: string) => messages.push(text), info: () => {} } as never,
      pass: () => {},
      metrics: () => {},
      lost: () => void lost++,
    };
    const processes = runProcesses(count, watch, {
      start({ place, isReplacement }, listeners) {
        const { promise, resolve } = Promise.withResolvers<Ended>();
        const fake: FakeProcess = {
          ...{ pid: made.length + 1, ready: null, ended: promise, tell: () => {}, place, isReplacement, signals: [] },
          kill: (signal) => void fake.signals.push(signal),
          becomeReady() {
            fake.ready = { kind: 'ready', origin: 'http://127.0.0.1:1', facts: {} };
            listeners.ready(fake.ready);
          },
          end(how = {}) {
            fake.ready = null;
            resolve({ ...CRASH, ...how });
          },
        };
        made.push(fake);
        return fake;
      },
      pause: async (ms) => pauses.push(ms),
    });
    /** Lets the parent react to the end of processes. */
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return { processes, made, pauses, messages, settle, lost: () => lost };
  }

  it('is ready when all of them are', async () => {
    const { processes, made } = startFakes(2);
    let isStarted = false;
    void processes.started.then(() => {
      isStarted = true;
    });
    made[0]?.becomeReady();
    await Promise.resolve();
    expect(isStarted).to.equal(false);
    made[1]?.becomeReady();
    expect((await processes.started).map(({ pid }) => pid)).to.deep.equal([1, 2]);
  });

  it('starts one again after a pause that grows, and after the first one if it had worked for a minute', async () => {
    const { processes, made, pauses, messages, settle, lost } = startFakes(2);
    for (const fake of made) fake.becomeReady();
    await processes.started;
    for (let turn = 0; turn < 8; turn++) {
      made.at(-1)?.end();
      await settle();
    }
    expect(pauses).to.deep.equal([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
    expect(made.at(-1)).to.deep.include({ place: 2, isReplacement: true });
    made.at(-1)?.end({ readyMs: PROCESSES.steadyMs });
    await settle();
    expect(pauses.at(-1)).to.equal(500);
    expect(lost()).to.equal(9);
    expect(messages).to.deep.equal(Array(9).fill('a process has ended; it is started again'));
  });

  it('gives up a start with the reason that a process told, and stops the others', async () => {
    const { processes, made } = startFakes(2);
    made[1]?.becomeReady();
    made[0]?.end({ failure: '127.0.0.1:1 is in use', wasReady: false });
    await new Promise((resolve) => setImmediate(resolve));
    expect(made[1]?.signals).to.include('SIGTERM');
    made[1]?.end({ code: 0 });
    for (const end of [processes.started, processes.over]) {
      const error = await end.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(error).to.be.instanceOf(ProcessError).and.have.property('message', '127.0.0.1:1 is in use');
    }
  });

  it('gives up after five failed starts in a row, if no process works', async () => {
    const { processes, made, settle } = startFakes(1);
    for (let turn = 0; turn < PROCESSES.failedStarts; turn++) {
      made.at(-1)?.end({ code: null, signal: 'SIGKILL', wasReady: false });
      await settle();
    }
    const error = await processes.over.catch((error: unknown) => error);
    expect(made).to.have.length(5);
    expect((error as Error).message).to.equal('process 1 ended 5 times in a row, the last time with: signal SIGKILL');
  });

  it('does not give up while another process works', async () => {
    const { processes, made, settle } = startFakes(2);
    for (const fake of made) fake.becomeReady();
    await processes.started;
    for (let turn = 0; turn < 20; turn++) {
      made.at(-1)?.end({ failure: 'the database server cannot be reached', wasReady: false });
      await settle();
    }
    expect(made).to.have.length(22);
    expect(made[0]?.signals).to.deep.equal([]);
  });

  it('starts no process after a stop, and reports whether all ended cleanly', async () => {
    for (const [code, isInOrder] of [
      [0, true],
      [1, false],
    ] as const) {
      const { processes, made } = startFakes(2);
      for (const fake of made) fake.becomeReady();
      processes.stop(60_000);
      expect(made.map(({ signals }) => signals)).to.deep.equal([['SIGTERM'], ['SIGTERM']]);
      made[0]?.end({ code: 0 });
      made[1]?.end({ code });
      expect(await processes.over).to.equal(isInOrder);
      expect(made).to.have.length(2);
    }
  });

  it('is over without a failure when it is stopped before all are ready', async () => {
    const { processes, made } = startFakes(2);
    made[0]?.becomeReady();
    processes.stop(60_000);
    made[0]?.end({ code: 0 });
    made[1]?.end({ code: null, signal: 'SIGTERM', wasReady: false });
    expect(await processes.started).to.deep.equal([]);
    expect(await processes.over).to.equal(true);
  });
});
