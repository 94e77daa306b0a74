import { expect } from 'chai';
import type { Store } from '../../db/store.ts';
import { wrap } from '../../wiring/overrides.ts';
import { execute } from '../support/execute.ts';
import { recordingStore } from '../support/failing-store.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Changes between the plan of a call and the transaction that records its start. */
describe('a call whose account, connection, provider or tool changes after it was planned', () => {
  let acme: Upstream;
  let server: TestServer;
  /** Runs before the next transaction that records a start. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  let calls: string[] = [];

  const interrupted = (store: Store): Store => {
    const change = async () => {
      const made = meanwhile;
      meanwhile = undefined;
      await made?.();
    };
    return {
      ...store,
      commit: async (unit) => {
        await change();
        return store.commit(unit);
      },
    };
  };

  before(async () => {
    acme = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: {
        ...NO_BACKGROUND,
        store: wrap((store) => interrupted(recordingStore(store, (call) => void calls.push(call)))),
      },
    });
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });
  beforeEach(() => {
    calls = [];
    acme.requests.length = 0;
  });
  afterEach(() => {
    expect(meanwhile, 'the change was made').to.equal(undefined);
  });

  const get = (id: string, tool = 'http_get', input: Record<string, unknown> = { path: '/things' }, headers = {}) =>
    execute(server, id, tool, input, { headers });

  /** Calls with an account that another request changes after the call was planned. */
  async function callDuring(change: (made: Awaited<ReturnType<typeof createKeyedAccount>>) => Promise<unknown>) {
    const made = await createKeyedAccount(server);
    meanwhile = () => change(made);
    return { made, answer: await get(made.id) };
  }

  const request = async (method: string, path: string, body: object) => {
    const answer = await server.call(method, path, { body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  };

  it('is planned once, outside of the transaction, when nothing changes', async () => {
    const { id } = await createKeyedAccount(server);
    calls = [];
    expect((await get(id)).status).to.equal(200);
    const start = calls.indexOf('commit');
    expect(calls.slice(0, start)).to.include.members(['accounts.get', 'connections.get', 'customProviders.get']);
    expect(calls.filter((call) => call === 'accounts.get')).to.have.lengthOf(1);
  });

  it('sends nothing when the account is disconnected', async () => {
    const { answer } = await callDuring(({ id }) => request('POST', '/api/v1/connected_accounts:disconnect', { id }));
    expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    expect(acme.requests).to.have.lengthOf(0);
  });

  it('sends nothing when the account is deleted', async () => {
    const { answer } = await callDuring(({ id }) => request('POST', '/api/v1/connected_accounts:delete', { id }));
    expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    expect(acme.requests).to.have.lengthOf(0);
  });

  it('sends nothing when the connection is disabled', async () => {
    const { answer } = await callDuring(({ account }) =>
      request('PUT', `/api/v1/connections/${account.connection_id}`, { enabled: false }),
    );
    expect(answer.body).to.include({ code: 'CONNECTION_DISABLED' });
    expect(acme.requests).to.have.lengthOf(0);
  });

  it('is sent to the new path when the provider moves within its host', async () => {
    const { answer } = await callDuring(({ provider }) =>
      request('PUT', `/api/v1/custom-providers/${provider.identifier}`, { proxy_url: `${KEYED_ORIGIN}/v2` }),
    );
    expect([answer.status, answer.body.code]).to.deep.equal([200, undefined]);
    expect(acme.requests.map(({ target }) => target)).to.deep.equal(['/v2/things']);
  });

  it('contains the new key when the credentials are replaced', async () => {
    const connected_account = { authorization_details: { static_auth: { details: { api_key: 'another-key-12345' } } } };
    const { answer } = await callDuring(({ id }) =>
      request('PUT', '/api/v1/connected_accounts', { id, connected_account }),
    );
    expect(answer.status).to.equal(200);
    expect(acme.requests.map(({ headers }) => headers['x-api-key'])).to.deep.equal(['another-key-12345']);
  });

  it('is recorded once, and started once', async () => {
    const { made, answer } = await callDuring(({ id }) =>
      request('PUT', '/api/v1/connected_accounts', { id, connected_account: { api_config: { note: 'changed' } } }),
    );
    expect(answer.status).to.equal(200);
    const { executions } = (await server.call('GET', `/api/v1/executions?connected_account_id=${made.id}`)).body;
    expect(executions.map(({ id, status }: { id: string; status: string }) => [id, status])).to.deep.equal([
      [answer.body.execution_id, 'SUCCEEDED'],
    ]);
    expect(acme.requests).to.have.lengthOf(1);
  });

  describe('with a tool of the environment', () => {
    async function ownToolCall(change: (name: string, connector: string) => Promise<unknown>) {
      const { id, provider } = await createKeyedAccount(server);
      const name = `${provider.identifier.replaceAll('-', '_')}_get_thing`;
      await storeTools(server, [ownTool(provider.identifier, name)]);
      expect((await get(id, name, { number: 1 })).status, 'a control').to.equal(200);
      acme.requests.length = 0;
      meanwhile = () => change(name, provider.identifier);
      return get(id, name, { number: 1 });
    }

    it('sends nothing when the tool is deleted', async () => {
      const answer = await ownToolCall(async (name) => {
        const { id } = await firstEnvironment(server);
        await server.parts.store.write((tx) => tx.environmentTools.delete(id, [name]));
      });
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      expect(acme.requests).to.have.lengthOf(0);
    });

    it('sends nothing when the tool has to be reviewed', async () => {
      const answer = await ownToolCall((name, connector) =>
        storeTools(server, [ownTool(connector, name)], { flagged: 'The method has changed.' }),
      );
      expect(answer.body).to.include({ code: 'TOOL_NOT_ALLOWED' });
      expect(acme.requests).to.have.lengthOf(0);
    });

    it('sends nothing when the tool was replaced', async () => {
      const answer = await ownToolCall((name, connector) =>
        storeTools(server, [ownTool(connector, name, { request: { method: 'DELETE', path: '/things/{number}' } })]),
      );
      expect(answer.body).to.include({ status: 503, code: 'SERVER_BUSY' });
      expect(acme.requests).to.have.lengthOf(0);
    });
  });

  it('replays an earlier response, although a new call would be rejected', async () => {
    const { id } = await createKeyedAccount(server);
    const headers = { 'idempotency-key': 'once-1' };
    const first = await get(id, 'http_get', { path: '/things' }, headers);
    expect(first.status).to.equal(200);
    await request('POST', '/api/v1/connected_accounts:disconnect', { id });
    const again = await get(id, 'http_get', { path: '/things' }, headers);
    expect(again.headers['idempotency-replayed']).to.equal('true');
    expect(again.text).to.equal(first.text);
    const other = await get(id, 'http_get', { path: '/things' }, { 'idempotency-key': 'once-2' });
    expect(other.body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
    expect(acme.requests).to.have.lengthOf(1);
  });
});
