import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { endLost } from '../../core/instances/instance.ts';
import type { Repositories } from '../../db/store.ts';
import { StorageError } from '../../db/store.ts';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { amount } from '../support/amount.ts';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import { createMcpProvider } from '../support/mcp-provider.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { toolBody } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { listed, startRawMcpServer } from '../support/raw-mcp-server.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { accessToken } from '../support/tokens.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const GITHUB = 'https://api.github.com';
const MCP_ORIGIN = 'https://tools.example';
const ROUNDS = amount(process.env['OUTCOME_ROUNDS'], 1);

interface RawResponse {
  status: number;
  executionId: string;
  text: string;
  /** Whether the response ended before it was complete. */
  isCut: boolean;
}

/**
 * Makes a raw call, which the server forwards to the provider. With `hangUp`, the caller disconnects after the first
 * bytes. `onData` runs for each part of the response.
 */
function rawCall(
  server: Pick<TestServer, 'origin'>,
  token: string,
  accountId: string,
  method: string,
  { hangUp = false, onData = () => {} } = {},
): Promise<RawResponse> {
  const { port } = new URL(server.origin);
  const headers = { host: 'localhost', authorization: `Bearer ${token}`, 'valetkey-account-id': accountId };
  return new Promise((resolve) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path: '/api/v1/proxy/things', headers }, (res) => {
      const answer = {
        status: res.statusCode ?? 0,
        executionId: String(res.headers['valetkey-execution-id']),
        text: '',
        isCut: false,
      };
      res.on('data', (chunk) => {
        answer.text += chunk;
        onData();
        if (hangUp) request.destroy();
      });
      res.on('error', () => {});
      res.on('close', () => resolve({ ...answer, isCut: !res.complete }));
    });
    request.on('error', () => resolve({ status: 0, executionId: '', text: '', isCut: true }));
    request.end();
  });
}

describe('F13: the outcome of an execution', () => {
  let acme: Upstream;
  let github: Upstream;
  let server: TestServer;
  let token: string;
  let id: string;
  /** While set, the first `failures` units of work of this kind fail. Further ones commit and wait for `openGate`. */
  let gate: { kind: 'write' | 'note'; failures: number } | undefined;
  let held: (() => void)[];

  before(async () => {
    acme = await startUpstream();
    github = await startUpstream(({ target }, res) => {
      const page = Number(new URL(target, 'http://x').searchParams.get('page') ?? 1);
      json(res, 200, [{ page }], page < 3 ? { link: `<${GITHUB}/x?page=${page + 1}>; rel="next"` } : {});
    });
    const overrides = [acme.endpointOverride(KEYED_ORIGIN), github.endpointOverride(GITHUB)].join(',');
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: overrides },
      overrides: {
        ...NO_BACKGROUND,
        store: wrap((store) => {
          const gated =
            <T>(kind: 'write' | 'note', run: (unit: (tx: Repositories) => Promise<T>) => Promise<T>) =>
            async (unit: (tx: Repositories) => Promise<T>) => {
              if (gate?.kind === kind && gate.failures-- > 0) throw new StorageError('SQLITE_FULL', 'the disk is full');
              const result = await run(unit);
              if (gate?.kind === kind) await new Promise<void>((release) => held.push(release));
              return result;
            };
          const write = gated<unknown>('write', store.write) as typeof store.write;
          return { ...store, write, note: gated<unknown>('note', store.note) as typeof store.note };
        }),
      },
    });
    token = await accessToken(server);
    ({ id } = await createKeyedAccount(server));
  });
  beforeEach(() => {
    [gate, held] = [undefined, []];
    acme.handler = (_request, res) => json(res, 200, { ok: true });
  });
  after(async () => {
    await server.stop();
    await acme.stop();
    await github.stop();
  });

  const recordOf = async (executionId: string) => {
    const answer = await server.call('GET', `/api/v1/executions/${executionId}`);
    return answer.body.execution;
  };
  const run = (tool: string, more = {}) => execute(server, id, tool, { path: '/things' }, more);

  it('is in the record that is read after the response, of every kind of call', async () => {
    const account = await createAccount(server);
    const issues = { owner: 'octocat', repo: 'hello' };
    const keyed = (name: string) => ({ headers: { 'idempotency-key': name } });
    const calls: [name: string, status: string, call: () => Promise<string>][] = [
      ['a call that reads', 'SUCCEEDED', async () => (await run('http_get')).body.execution_id],
      ['a call that writes', 'SUCCEEDED', async () => (await run('http_post')).body.execution_id],
      ['a call with a key', 'SUCCEEDED', async () => (await run('http_post', keyed('outcome'))).body.execution_id],
      [
        'all pages',
        'SUCCEEDED',
        async () => {
          const answer = await execute(server, account.id, 'github_list_issues', issues, { body: { all_pages: true } });
          expect(answer.body.pages.count).to.equal(3);
          return answer.body.execution_id;
        },
      ],
      [
        'a failed call that reads',
        'FAILED',
        async () => {
          acme.handler = (_request, res) => json(res, 404, {});
          return (await run('http_get')).body.execution_id;
        },
      ],
      ['a failed call that writes', 'FAILED', async () => (await run('http_post')).body.execution_id],
      ['a failed call with a key', 'FAILED', async () => (await run('http_post', keyed('x'))).body.execution_id],
      ...(['GET', 'HEAD', 'POST', 'DELETE'] as const).map((method): (typeof calls)[number] => [
        `a raw ${method}`,
        'SUCCEEDED',
        async () => {
          acme.handler = (_request, res) => (method === 'DELETE' ? res.writeHead(204).end() : json(res, 200, {}));
          return (await rawCall(server, token, id, method)).executionId;
        },
      ]),
    ];
    for (let round = 0; round < 5; round++) {
      for (const [name, status, call] of calls) {
        expect((await recordOf(await call())).status, name).to.equal(status);
        acme.handler = (_request, res) => json(res, name.startsWith('a failed') ? 404 : 200, {});
      }
      acme.handler = (_request, res) => json(res, 200, {});
    }
  });

  it('is in the record that is read after the result of an MCP call', async () => {
    const provider = await createProvider(server, { proxy_enabled: true, proxy_url: KEYED_ORIGIN });
    const connection = await createConnection(server, { connector: provider.identifier });
    await createAccount(server, {
      connector: connection.key_id,
      identifier: 'ada@acme.test',
      userId: 'user-1',
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'key-0123456789' } } } },
    } as never);
    const client = await connectMcp(server, connection.id, await sessionToken(server, connection.id));
    try {
      for (const [name, status] of [
        ['http_get', 200],
        ['http_post', 200],
        ['http_get', 500],
        ['http_post', 500],
      ] as const) {
        acme.handler = (_request, res) => json(res, status, {});
        const result = await client.callTool({ name, arguments: { path: '/things' } });
        const { execution_id: executionId } = result.structuredContent as { execution_id: string };
        expect((await recordOf(executionId)).status).to.equal(status === 200 ? 'SUCCEEDED' : 'FAILED');
      }
    } finally {
      await client.close();
    }
  });

  it('is stored with the contents, if the environment keeps them', async () => {
    await server.call('PUT', '/api/v1/environment', { body: { keep_execution_contents: true } });
    const answer = await run('http_get');
    const { body } = await server.call('GET', `/api/v1/executions/${answer.body.execution_id}`);
    expect(body.contents.response).to.deep.equal({ ok: true });
    await server.call('PUT', '/api/v1/environment', { body: { keep_execution_contents: false } });
  });

  it('is not recorded for a dry run, which has no record', async () => {
    const before = (await server.call('GET', '/api/v1/executions')).body.total_size;
    const answer = await run('http_post', { body: { dry_run: true } });
    expect((await server.call('GET', `/api/v1/executions/${answer.body.execution_id}`)).status).to.equal(404);
    expect((await server.call('GET', '/api/v1/executions')).body.total_size).to.equal(before);
  });

  /** Sets the gate when the call reaches the provider, so that later units of this kind fail or wait. */
  const closeGate = (kind: 'write' | 'note', failures: number, status = 200) => {
    acme.handler = (_request, res) => {
      gate = { kind, failures };
      json(res, status, { ok: true });
    };
  };
  const openGate = () => {
    gate = undefined;
    for (const release of held.splice(0)) release();
  };
  const untilHeld = async () => {
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  };

  const waits: [name: string, kind: 'write' | 'note', status: number, call: () => Promise<{ status: number }>][] = [
    ['durable before the response of a call that writes', 'write', 200, () => run('http_post')],
    ['durable before the response of a failed call that writes', 'write', 422, () => run('http_post')],
    ['visible before the response of a call that reads', 'note', 200, () => run('http_get')],
    ['durable before the end of a raw POST', 'write', 200, () => rawCall(server, token, id, 'POST')],
    ['visible before the end of a raw GET', 'note', 200, () => rawCall(server, token, id, 'GET')],
  ];
  for (const [name, kind, status, call] of waits) {
    it(`is ${name}`, async () => {
      closeGate(kind, 0, status);
      let answered = false;
      const answer = call().finally(() => {
        answered = true;
      });
      await untilHeld();
      // A later request gets its response, so the response of the call could have been sent, too.
      await server.call('GET', '/healthz', { token: null });
      expect(answered).to.equal(false);
      openGate();
      expect((await answer).status).to.equal(status === 200 ? 200 : 502);
    });
  }

  describe('that cannot be stored', () => {
    it('makes the response of a call that writes say that its outcome is unknown', async () => {
      closeGate('write', Number.POSITIVE_INFINITY);
      const answer = await run('http_post');
      expect(answer.body).to.include({ status: 409, code: 'EXECUTION_OUTCOME_UNKNOWN' });
      openGate();
      expect((await recordOf(answer.body.execution_id)).status).to.be.oneOf(['STARTED', 'UNKNOWN']);
    });

    it('becomes UNKNOWN with the next heartbeat of the server, and so does the key of the call', async () => {
      closeGate('write', Number.POSITIVE_INFINITY);
      const lost = await run('http_post', { headers: { 'idempotency-key': 'lost' } });
      expect(lost.body).to.include({ status: 409, code: 'EXECUTION_OUTCOME_UNKNOWN' });
      openGate();
      await endLost(server.parts.instance, server.parts);
      expect((await recordOf(lost.body.execution_id)).status).to.equal('UNKNOWN');
      const again = await run('http_post', { headers: { 'idempotency-key': 'lost' } });
      expect(again.body).to.include({ code: 'EXECUTION_OUTCOME_UNKNOWN', execution_id: lost.body.execution_id });
    });

    it('leaves no key in use after the next heartbeat, also of operations that record no execution', async () => {
      const provider = await createMcpProvider(server, `${MCP_ORIGIN}/mcp`, { name: 'Not reached' });
      const account = { id };
      const calls: [path: string, body: object][] = [
        ['/api/v1/connected_accounts:refresh', account],
        ['/api/v1/connected_accounts:check', account],
        [`/api/v1/custom-providers/${provider.identifier}:sync_tools`, {}],
      ];
      for (const [path, body] of calls) {
        const call = () => server.call('POST', path, { body, headers: { 'idempotency-key': 'lost-operation' } });
        // The key is claimed by `store.commit`, which the gate does not affect. The later writes fail.
        gate = { kind: 'write', failures: Number.POSITIVE_INFINITY };
        expect((await call()).body, path).to.include({ status: 503, code: 'STORAGE_UNAVAILABLE' });
        openGate();
        expect((await call()).body.code, path).to.equal('IDEMPOTENCY_KEY_IN_USE');
        await endLost(server.parts.instance, server.parts);
        const later = (await call()).body;
        expect(later, path).to.include({ status: 409, code: 'EXECUTION_OUTCOME_UNKNOWN' });
        expect(later, path).to.not.have.property('execution_id');
      }
    });

    it('makes a call that reads fail, so that it can be repeated', async () => {
      closeGate('note', Number.POSITIVE_INFINITY);
      expect((await run('http_get')).body).to.include({ status: 503, code: 'STORAGE_UNAVAILABLE' });
    });

    it('truncates the response of a raw POST', async () => {
      closeGate('write', Number.POSITIVE_INFINITY);
      expect(await rawCall(server, token, id, 'POST')).to.include({ isCut: true });
    });

    it('is stored by a later attempt when the storage recovers', async () => {
      closeGate('write', 3);
      const answering = run('http_post');
      await untilHeld();
      openGate();
      const answer = await answering;
      expect(answer.status, answer.text).to.equal(200);
      expect((await recordOf(answer.body.execution_id)).status).to.equal('SUCCEEDED');
    });
  });

  describe('of a raw call whose response is not passed on completely', () => {
    const ended = async (executionId: string) => {
      let record = await recordOf(executionId);
      while (record.status === 'STARTED') record = await recordOf(executionId);
      return record;
    };
    it("is the provider's response when the caller disconnects", async () => {
      let release = () => {};
      acme.handler = (_request, res) => {
        res.writeHead(201, { 'content-type': 'text/plain' }).write('x'.repeat(100_000));
        release = () => res.end();
      };
      const { executionId } = await rawCall(server, token, id, 'POST', { hangUp: true });
      const record = await ended(executionId);
      release();
      expect(record).to.include({ status: 'SUCCEEDED', upstream_status: 201 });
    });

    const failed = { status: 'FAILED', error_kind: 'upstream_invalid_response', upstream_status: 200 };

    it('is a failure when the provider aborts its response after the caller has received a part', async () => {
      let abort = () => {};
      acme.handler = (_request, res) => {
        res.writeHead(200, { 'content-type': 'text/plain', 'content-length': '200000' }).write('x'.repeat(100_000));
        abort = () => res.destroy();
      };
      const answer = await rawCall(server, token, id, 'POST', { onData: () => abort() });
      expect(answer).to.include({ status: 200, isCut: true });
      expect(await ended(answer.executionId)).to.include(failed);
    });

    it('is a failure that the caller can read when the provider aborts before the caller has received anything', async () => {
      acme.handler = (_request, res) => {
        res.writeHead(200, { 'content-type': 'text/plain', 'content-length': '200000' }).flushHeaders();
        setImmediate(() => res.destroy());
      };
      for (const method of ['POST', 'GET']) {
        const answer = await rawCall(server, token, id, method);
        expect(answer, method).to.include({ status: 502, isCut: false });
        const { code, execution_id, tool_error } = JSON.parse(answer.text);
        expect({ code, execution_id }, method).to.eql({ code: 'TOOL_FAILED', execution_id: answer.executionId });
        expect(tool_error, method).to.include({ kind: failed.error_kind, upstream_status: 200 });
        expect(await finishedExecution(server, answer.executionId), method).to.include(failed);
      }
    });
  });

  it('is recorded after kill -9 for every kind of call whose response was received', async () => {
    const folder = tempDir();
    const theirs = await startRawMcpServer();
    theirs.tools = [listed('look', { annotations: { readOnlyHint: true } }), listed('change')];
    const overrides = [acme.endpointOverride(KEYED_ORIGIN), theirs.endpointOverride(MCP_ORIGIN)].join(',');
    const env = { DATA_DIR: folder.path, VALETKEY_ENDPOINT_OVERRIDES: overrides };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const first = await startChildServer(env);
        const calls = await callsOfEveryKind(first);
        const answered: [kind: string, executionId: string][] = [];
        const counts = new Map(Object.keys(calls).map((kind) => [kind, 0]));
        let killed: Promise<unknown> | undefined;
        const caller = async ([kind, call]: [string, () => Promise<string | undefined>]): Promise<void> => {
          while (!killed) {
            const executionId = await call();
            if (!executionId) continue;
            answered.push([kind, executionId]);
            counts.set(kind, (counts.get(kind) ?? 0) + 1);
            if (answered.length >= 150 && Math.min(...counts.values()) > 0) killed ??= first.stop('SIGKILL');
          }
        };
        await Promise.all(Object.entries(calls).map((entry) => caller(entry).catch(() => {})));
        // The control: calls of every kind succeeded, so the server was killed.
        expect(Math.min(...counts.values()), JSON.stringify([...counts])).to.be.above(0);
        await killed;
        const second = await startChildServer(env);
        const lost: string[] = [];
        for (const [kind, executionId] of answered) {
          const { status } = (await second.call('GET', `/api/v1/executions/${executionId}`)).body.execution;
          if (status !== 'SUCCEEDED') lost.push(`${kind} ${executionId} ${status}`);
        }
        await second.stop();
        expect(answered.length).to.be.at.least(150);
        expect(lost).to.deep.equal([]);
      }
    } finally {
      await theirs.stop();
      folder.remove();
    }
  });

  /**
   * Prepares a call of each kind that has a record. Each function makes its call, and returns the id of the execution
   * once the response is complete.
   */
  async function callsOfEveryKind(child: ChildServer): Promise<Record<string, () => Promise<string | undefined>>> {
    const { provider, account } = await createKeyedAccount(child);
    const bearer = await child.token();
    const made = `${provider.identifier.replaceAll('-', '_')}_change_thing`;
    const hints = { read_only: false, destructive: false, idempotent: false, open_world: false };
    const tool = toolBody(provider.identifier, made, { hints, request: { method: 'POST', path: '/things/{number}' } });
    expect((await child.call('POST', '/api/v1/tools', { body: tool })).status).to.equal(201);
    const user = { user_id: account['user_id'] ?? 'user-1', identifier: account['identifier'] ?? '' };
    const client = await connectMcp(
      child,
      account['connection_id'] ?? '',
      await sessionToken(child, account['connection_id'] ?? '', user),
    );
    const discovered = await createMcpProvider(child, `${MCP_ORIGIN}/mcp`, { name: `Theirs ${provider.identifier}` });
    expect((await discovered.sync()).status).to.equal(200);
    const prefix = discovered.identifier.replaceAll('-', '_');
    const overRest = async (id: string, name: string, input: Record<string, unknown>) =>
      (await execute(child, id, name, input)).body?.execution_id as string | undefined;
    const overMcp = async (name: string, input: Record<string, unknown>) => {
      const { structuredContent } = await client.callTool({ name, arguments: input });
      return (structuredContent as { execution_id?: string } | undefined)?.execution_id;
    };
    const raw = async (method: string) => {
      const { isCut, executionId } = await rawCall(child, bearer, account.id, method);
      return isCut ? undefined : executionId;
    };
    const thing = { path: '/things' };
    return {
      'a tool that reads': () => overRest(account.id, 'http_get', thing),
      'a tool that writes': () => overRest(account.id, 'http_post', thing),
      'a tool of the environment': () => overRest(account.id, made, { number: 1 }),
      'a discovered tool that reads': () => overRest(discovered.accountId, `${prefix}_look`, {}),
      'a discovered tool that writes': () => overRest(discovered.accountId, `${prefix}_change`, {}),
      'a raw GET': () => raw('GET'),
      'a raw POST': () => raw('POST'),
      'an MCP call that reads': () => overMcp('http_get', thing),
      'an MCP call that writes': () => overMcp('http_post', thing),
      'an MCP call of a tool of the environment': () => overMcp(made, { number: 1 }),
    };
  }
});
