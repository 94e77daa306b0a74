import { expect } from 'chai';
import { testClock } from '../support/clock.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { walkPages } from '../support/pages.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const PATH = '/api/v1/executions';

describe('listExecutions', () => {
  let acme: Upstream;
  let server: TestServer;
  let ada: string;
  const ids: string[] = [];
  const clock = testClock();

  const idsOf = async (query: string) => {
    const answer = await server.call('GET', `${PATH}${query}`);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.total_size).to.equal(answer.body.executions.length);
    return answer.body.executions.map((execution: { id: string }) => execution.id);
  };

  before(async () => {
    acme = await startUpstream(({ target }, res) => json(res, target === '/fail' ? 500 : 200, {}));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { now: clock.now },
    });
    ada = (await createKeyedAccount(server)).id;
    const grace = (await createKeyedAccount(server)).id;
    for (const [account, tool, path, run] of [
      [ada, 'http_get', '/a', 'run-1'],
      [ada, 'http_post', '/a', 'run-1'],
      [grace, 'http_get', '/a', 'run-1'],
      [ada, 'http_get', '/fail', 'run-2'],
    ] as const) {
      const answer = await execute(server, account, tool, { path }, { body: { agent_run_id: run } });
      ids.push(answer.body.execution_id);
      await finishedExecution(server, answer.body.execution_id);
      clock.advance(1000);
    }
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  describe('200', () => {
    it('lists the newest first', async () => {
      expect(await idsOf('')).to.deep.equal(ids.toReversed());
    });

    it('combines filters', async () => {
      const [first, second, third, fourth] = ids;
      expect(await idsOf(`?connected_account_id=${ada}`)).to.deep.equal([fourth, second, first]);
      expect(await idsOf(`?connected_account_id=${ada}&tool_name=http_get`)).to.deep.equal([fourth, first]);
      expect(await idsOf('?agent_run_id=run-1')).to.deep.equal([third, second, first]);
      expect(await idsOf('?agent_run_id=run-1&tool_name=http_get')).to.deep.equal([third, first]);
      expect(await idsOf('?status=FAILED')).to.deep.equal([fourth]);
      expect(await idsOf('?status=UNKNOWN')).to.deep.equal([]);
      expect(await idsOf('?agent_run_id=run-3')).to.deep.equal([]);
    });

    it('finds the executions of a caller, and those with one kind of failure', async () => {
      const fourth = ids.at(-1);
      const { error_kind: kind, api_client_id: caller } = (await server.call('GET', `${PATH}/${fourth}`)).body
        .execution;
      expect(kind).to.equal('upstream_server_error');
      expect(await idsOf(`?error_kind=${kind}`)).to.deep.equal([fourth]);
      expect(await idsOf(`?error_kind=${kind}&status=SUCCEEDED`)).to.deep.equal([]);
      expect(await idsOf('?error_kind=upstream_timeout')).to.deep.equal([]);
      expect(await idsOf(`?api_client_id=${caller}`)).to.deep.equal(ids.toReversed());
      expect(await idsOf('?api_client_id=cli_other')).to.deep.equal([]);
    });

    it('pages in both directions', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=3`, 'executions');
      expect(pages.flat().map((execution) => execution.id)).to.deep.equal(ids.toReversed());
    });

    it('returns no execution of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const answer = await other.call('GET', `${PATH}?connected_account_id=${ada}`);
      expect(answer.body).to.deep.include({ executions: [], total_size: 0 });
    });
  });

  describe('400', () => {
    it('narrows to a connector and to a time', async () => {
      const [first, second, third, fourth] = ids;
      const startOf = async (id: string | undefined) =>
        (await server.call('GET', `${PATH}/${id}`)).body.execution.started_at;
      const [from, before] = [await startOf(second), await startOf(fourth)];
      expect(await idsOf(`?started_from=${from}&started_before=${before}`)).to.deep.equal([third, second]);
      expect(await idsOf(`?started_before=${from}`)).to.deep.equal([first]);
      const { connector } = (await server.call('GET', `${PATH}/${first}`)).body.execution;
      expect(await idsOf(`?connector=${connector}`)).to.include(first);
      expect(await idsOf('?connector=github')).to.deep.equal([]);
    });

    it('refuses a page token of other filters', async () => {
      const { next_page_token: token } = (await server.call('GET', `${PATH}?page_size=1`)).body;
      const answer = await server.call(
        'GET',
        `${PATH}?page_size=1&status=FAILED&page_token=${encodeURIComponent(token)}`,
      );
      expect(answer.body.code).to.equal('INVALID_PAGE_TOKEN');
    });

    for (const query of [
      'page_size=0',
      'status=LOST',
      'tool_name=A%20B',
      'connected_account_id=conn_1',
      'started_from=yesterday',
    ]) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });
});
