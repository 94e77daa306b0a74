import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { blocksOf, readPage } from './markdown.ts';

const PAGE = readPage('docs/execution.md');
const run = promisify(execFile);

describe('docs/execution.md', () => {
  let notes: Upstream;
  let server: TestServer;

  before(async () => {
    notes = await startUpstream((_request, res) => json(res, 200, [{ id: 1, text: 'Water the plants' }]));
    server = await startTestServer({ env: { VALETKEY_EGRESS_ALLOW: `127.0.0.1:${notes.port}` } });
    const details = { static_auth: { details: { api_key: 'notes-demo-key-1234' } } };
    const api_config = { base_url: `http://127.0.0.1:${notes.port}` };
    const body = {
      ...{ connector: 'http', user_id: 'ada', identifier: 'ada' },
      connected_account: { api_config, authorization_details: details },
    };
    const answer = await server.call('POST', '/api/v1/connected_accounts', { body });
    expect(answer.status, answer.text).to.equal(201);
  });
  after(async () => {
    await server.stop();
    await notes.stop();
  });

  it('shows commands that work when pasted one after the other', async () => {
    const commands = blocksOf(PAGE).filter(({ language }) => language === 'sh');
    const env = {
      ...process.env,
      API: `${server.origin.replace('127.0.0.1', 'localhost')}/api/v1`,
      AUTH: `Authorization: Bearer ${await accessToken(server)}`,
      JSON: 'Content-Type: application/json',
    };
    const outputs = [];
    for (const { text } of commands)
      outputs.push(JSON.parse((await run('bash', ['--norc', '-c', text], { env })).stdout));
    const [executed, raw, records, settings, ...others] = outputs;
    expect(others).to.deep.equal([]);
    expect(executed.data).to.deep.equal([{ id: 1, text: 'Water the plants' }]);
    expect(raw).to.deep.equal(executed.data);
    expect(records.executions.map((execution: { tool_name: string }) => execution.tool_name)).to.include('proxy');
    expect(settings.environment).to.include({ keep_execution_contents: true, execution_retention_days: 30 });
  });
});
