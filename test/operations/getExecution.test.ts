import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const PATH = '/api/v1/executions';

describe('getExecution', () => {
  let acme: Upstream;
  let server: TestServer;
  let accountId: string;
  let executionId: string;

  before(async () => {
    acme = await startUpstream();
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
    accountId = (await createKeyedAccount(server)).id;
    executionId = (await execute(server, accountId, 'http_get', { path: '/' })).body.execution_id;
    await finishedExecution(server, executionId);
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  it('200: returns who executed what with which account, and the outcome', async () => {
    const answer = await server.call('GET', `${PATH}/${executionId}`);
    expect(answer.status).to.equal(200);
    const { started_at, finished_at, duration_ms, connector, ...rest } = answer.body.execution;
    expect(rest).to.deep.equal({
      id: executionId,
      connected_account_id: accountId,
      tool_name: 'http_get',
      agent_run_id: null,
      api_client_id: CLIENT_ID,
      status: 'SUCCEEDED',
      error_kind: null,
      upstream_status: 200,
    });
    expect(Date.parse(finished_at) - Date.parse(started_at)).to.equal(duration_ms);
    expect(connector).to.be.a('string');
  });

  describe('steps', () => {
    const executed = async (codes: number[]) => {
      acme.handler = (_request, res) => json(res, codes.shift() ?? 200, {});
      const { body } = await execute(server, accountId, 'http_get', { path: '/' });
      await finishedExecution(server, body.execution_id);
      return (await server.call('GET', `${PATH}/${body.execution_id}`)).body;
    };

    it('200: returns the repeated requests of a call whose contents are not stored', async () => {
      const { execution, steps, contents } = await executed([503, 200]);
      expect(contents).to.equal(null);
      expect(execution.status).to.equal('SUCCEEDED');
      const seen = steps.map((step: Record<string, unknown>) => [step['kind'], step['upstream_status']]);
      expect(seen).to.deep.equal([
        ['REQUEST', 503],
        ['WAIT', null],
        ['REQUEST', 200],
      ]);
      for (const { started_at: at } of steps)
        expect(Date.parse(at)).to.be.within(Date.parse(execution.started_at), Date.parse(execution.finished_at));
    });

    it('200: returns none for a single request, which the record describes', async () => {
      expect((await executed([200])).steps).to.deep.equal([]);
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('GET', `${PATH}/${unknownId('exec')}`);
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });

    it('returns the same for the id of another environment as for an unknown one (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const headers = { 'x-request-id': 'same' };
      const foreign = await other.call('GET', `${PATH}/${executionId}`, { headers });
      const unknown = await other.call('GET', `${PATH}/${unknownId('exec')}`, { headers });
      expect(foreign.status).to.equal(404);
      expect(foreign.text).to.equal(unknown.text);
    });
  });
});
