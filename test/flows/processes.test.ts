import { once } from 'node:events';
import { request as send } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { type ChildServer, runCommand, spawnServer, startChildServer } from '../support/child-server.ts';
import { sessionToken } from '../support/mcp.ts';
import { CONSOLE_HEADERS, callConsole, cookieOf, offer } from '../support/operators.ts';
import { runIn } from '../support/postgres/databases.ts';
import { createConnection } from '../support/providers.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { databaseOfDirectory, isOnServer, nameOfDatabase } from '../support/test-engine.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

interface Line {
  msg: string;
  process?: number;
  processes?: number[];
  pid?: number;
}

describe('a server of two processes at one address', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  const database = databaseOfDirectory(folder.path);
  const env = { DATA_DIR: folder.path, BASE_URL: 'http://localhost', METRICS_PORT: '0', ...database.env };
  const inTwo = { ...env, VALETKEY_PROCESSES: '2' };
  const inDatabase = (statement: string) => runIn(nameOfDatabase(folder.path), statement).trim();
  const instances = () => Number(inDatabase('select count(*) from instances'));
  let server: ChildServer;
  let logged: Line[];

  before(async () => {
    const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
    const init = await runCommand(['init'], { ...env, ...client });
    expect(init.code, init.stderr).to.equal(0);
  });
  after(() => {
    database.remove();
    folder.remove();
  });

  /** Sends a request on its own connection, so that consecutive requests reach different processes. */
  async function ask(path: string, { method = 'GET', body = '', headers = {}, origin = server.origin } = {}) {
    const request = send(`${origin}${path}`, { method, agent: false, headers });
    request.end(body);
    const [response] = await once(request, 'response');
    const content = await text(response);
    return { status: response.statusCode as number, headers: response.headers, text: content };
  }

  async function start(settings: Record<string, string> = {}): Promise<void> {
    logged = [];
    server = await startChildServer({ ...inTwo, ...settings }, { onLog: (line) => logged.push(JSON.parse(line)) });
  }

  const listening = () => logged.filter(({ msg }) => msg === 'listening');
  const pids = () => listening()[0]?.processes ?? [];

  /** Resolves when the log has this many of the wanted lines. */
  async function untilLogged(wanted: (line: Line) => boolean, count: number): Promise<void> {
    while (logged.filter(wanted).length < count) await pause(20);
  }

  async function untilGone(pid: number): Promise<void> {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await pause(20);
    }
  }

  describe('while it runs', () => {
    let token: string;
    let metricsOrigin: string;

    before(async () => {
      const port = await freePort();
      metricsOrigin = `http://127.0.0.1:${port}`;
      await start({ METRICS_PORT: String(port) });
      token = await server.token();
    });
    after(() => server.stop());

    const authorized = () => ({ authorization: `Bearer ${token}` });
    const metrics = async () => (await ask('/metrics', { origin: metricsOrigin })).text;
    /** Returns the number of requests of an operation that each process has counted. */
    const counted = (text: string, operation: string) =>
      [...text.matchAll(/^valetkey_http_request_duration_seconds_count\{(.*)\} (\d+)$/gm)]
        .filter(([, labels]) => labels?.includes(`operation="${operation}"`))
        .map(([, labels, value]) => ({ process: /process="(\d)"/.exec(labels ?? '')?.[1], value: Number(value) }));

    it('says once that it listens, and consists of two instances', () => {
      expect(listening()).to.have.length(1);
      expect(pids()).to.have.length(2).and.not.include(server.child.pid);
      expect(listening()[0]?.pid).to.equal(server.child.pid);
      expect(instances()).to.equal(2);
    });

    it('lets both processes serve, and its log names them', async () => {
      for (let turn = 0; turn < 6; turn++) expect((await ask('/readyz')).status).to.equal(200);
      for (const place of [1, 2]) await untilLogged(({ msg, process }) => msg === 'request' && process === place, 2);
    });

    it('opens as many connections to the database as one process, and one more to hear of changes', async () => {
      const headers = { ...authorized(), 'content-type': 'application/json' };
      const creations = Array.from({ length: 60 }, (_, turn) =>
        ask(ACCOUNTS, { method: 'POST', headers, body: JSON.stringify(account(`at once ${turn}`)) }),
      );
      for (const { status } of await Promise.all(creations)) expect(status).to.equal(201);
      const name = nameOfDatabase(folder.path);
      const clients = `select count(*) from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`;
      const open = Number(inDatabase(clients)) - 1;
      expect(open).to.be.at.most(8 + 4 + 2);
    });

    it('shows the metrics of both processes, which never fall', async () => {
      const before = counted(await metrics(), 'getHealth');
      for (let turn = 0; turn < 10; turn++) await ask('/healthz');
      for (let scrape = 0; scrape < 5; scrape++) {
        const now = counted(await metrics(), 'getHealth');
        expect(now.map(({ process }) => process)).to.deep.equal(['1', '2']);
        for (const { process, value } of now)
          expect(value).to.be.at.least((before.find((one) => one.process === process)?.value ?? 0) + 4);
      }
      const text = await metrics();
      expect(text).to.match(/^valetkey_processes_ready 2$/m);
      const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
      expect(names).to.deep.equal([...new Set(names)]);
      for (const place of ['1', '2'])
        expect(text).to.match(new RegExp(`^valetkey_event_loop_utilization_ratio\\{process="${place}"\\} `, 'm'));
    });

    it('lets an operator of the console and a session of MCP go on in both processes', async () => {
      const { token: oneTime } = await offer(server);
      const cookie = cookieOf(await callConsole(server, '', { body: { token: oneTime } }));
      for (let turn = 0; turn < 4; turn++) {
        const answer = await ask('/console/session:token', { method: 'POST', headers: { cookie, ...CONSOLE_HEADERS } });
        expect(answer.status, answer.text).to.equal(200);
      }
      const { id } = await createConnection(server, { connector: 'github' });
      const headers = {
        authorization: `Bearer ${await sessionToken(server as never, id, { user_verify_url: undefined } as never)}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
      const rpc = (method: string, fields: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: fields });
      const begun = await ask(`/mcp/${id}`, { method: 'POST', headers, body: rpc('initialize', params) });
      const session = { ...headers, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
      for (let turn = 0; turn < 4; turn++) {
        const answer = await ask(`/mcp/${id}`, { method: 'POST', headers: session, body: rpc('tools/list', {}) });
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.text).to.include('github_');
      }
    });

    it('sends events of one process to a stream of the other', async () => {
      await server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
      const streams = await Promise.all(
        [1, 2].map(async () => {
          const request = send(`${server.origin}/api/v1/events:stream`, { agent: false, headers: authorized() });
          request.end();
          const [response] = await once(request, 'response');
          expect(response.statusCode).to.equal(200);
          return { request, response };
        }),
      );
      const created = await server.call('POST', ACCOUNTS, { body: account('streamed') });
      const { id } = created.body.connected_account;
      for (const { request, response } of streams) {
        let received = '';
        for await (const chunk of response) {
          received += chunk;
          if (received.includes(id)) break;
        }
        expect(received).to.include('connected_account.created');
        request.destroy();
      }
    });
  });

  const account = (identifier: string) => ({
    connector: 'http',
    user_id: 'ada',
    identifier,
    connected_account: {
      api_config: { base_url: 'https://api.example.com' },
      authorization_details: { static_auth: { details: { api_key: 'a-key-of-this-test' } } },
    },
  });

  it('loses nothing that it has acknowledged when a process is killed, and starts it again', async () => {
    await start();
    const token = await server.token();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const acknowledged: string[] = [];
    let isOver = false;
    let afterwards = Number.NEGATIVE_INFINITY;
    const clients = Array.from({ length: 4 }, async (_, client) => {
      for (let turn = 0; !isOver; turn++) {
        const body = JSON.stringify(account(`killed ${client} ${turn}`));
        const answer = await ask(ACCOUNTS, { method: 'POST', headers, body }).catch(() => undefined);
        if (answer?.status !== 201) continue;
        acknowledged.push(JSON.parse(answer.text).connected_account.id);
        if (afterwards++ > 20) isOver = true;
      }
    });
    while (acknowledged.length < 20) await pause(20);
    const [victim = 0] = pids();
    process.kill(victim, 'SIGKILL');
    await untilLogged(({ msg }) => msg === 'a process has ended; it is started again', 1);
    afterwards = 0;
    await Promise.all(clients);
    for (const id of acknowledged)
      expect((await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).status).to.equal(200);
    // The new process has another instance number, but the same process number in the log.
    const before = logged.length;
    while (!logged.slice(before).some(({ process }) => process === 1)) {
      await ask('/healthz');
      await pause(20);
    }
    expect(listening()).to.have.length(1);
    const audit = await runCommand(['verify-audit'], env);
    expect(audit.stdout + audit.stderr).to.include('is complete');
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    // The other process may have removed the row of the killed process. If it has not, a later server would.
    expect(instances()).to.be.at.most(1);
    inDatabase('delete from instances');
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`stops all processes at ${signal}, after the requests that they have begun`, async () => {
      await start();
      const token = await server.token();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const before = Number(inDatabase('select count(*) from accounts'));
      const requests = Array.from({ length: 20 }, (_, turn) =>
        ask(ACCOUNTS, { method: 'POST', headers, body: JSON.stringify(account(`${signal} ${turn}`)) }).then(
          ({ status }) => status,
          (error: NodeJS.ErrnoException) => error.code,
        ),
      );
      await Promise.race(requests);
      const processes = pids();
      expect(await server.stop(signal)).to.deep.equal({ code: 0, signal: null });
      await Promise.all(processes.map(untilGone));
      const created = (await Promise.all(requests)).filter((status) => status === 201).length;
      expect(Number(inDatabase('select count(*) from accounts'))).to.equal(before + created);
      expect(instances()).to.equal(0);
    });
  }

  it('ends its processes when it is killed itself', async () => {
    await start();
    const processes = pids();
    server.child.kill('SIGKILL');
    await Promise.all(processes.map(untilGone));
    expect(instances()).to.equal(0);
  });

  it('is not ready while it stops, and ends immediately at another signal', async () => {
    await start({ VALETKEY_SHUTDOWN_DELAY: '60' });
    const gone = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    for (let refused = 0; refused < 4; ) {
      const { status } = await ask('/readyz');
      if (status === 503) refused++;
    }
    const repeat = setInterval(() => server.child.kill('SIGTERM'), 100);
    const [code] = await gone;
    clearInterval(repeat);
    expect(code).to.equal(1);
    await Promise.all(pids().map(untilGone));
    inDatabase('delete from instances');
  });

  it('says once why it cannot start, and leaves no process', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    for (const [settings, reason] of [
      [{ PORT: String(port) }, `127.0.0.1:${port} is in use: stop the process that uses it, or set PORT`],
      [
        { METRICS_PORT: String(port) },
        `127.0.0.1:${port} is in use: stop the process that uses it, or set METRICS_PORT`,
      ],
      [{ VALETKEY_KEYS_FILE: `${folder.path}/none` }, 'The key file'],
    ] as const) {
      const child = spawnServer({ ...inTwo, ...settings });
      const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
      expect(code).to.equal(1);
      expect(errors).to.include(reason);
      expect(errors.match(/valetkey serve: /g), errors).to.have.length(1);
    }
    taken.close();
    expect(instances()).to.equal(0);
  });

  it('gives up when a process ends again and again before it is ready', async () => {
    const before =
      "import cluster from 'node:cluster'; if (cluster.isWorker && cluster.worker.id !== 1) process.kill(process.pid, 'SIGKILL');";
    const child = spawnServer(inTwo, { before });
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(errors).to.include('process 2 ended 5 times in a row, the last time with: signal SIGKILL');
    expect(code).to.equal(1);
    expect(instances()).to.equal(0);
  });
});
