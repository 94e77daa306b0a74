import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FILE_LIFETIME_MS, MAX_KEPT_BYTES } from '../../core/contents/stored-files.ts';
import { PAGE_LIMITS } from '../../core/executions/all-pages.ts';
import { DEFAULT_LIMITS } from '../../core/net/limits.ts';
import { RETRY_LIMITS } from '../../core/tools/retry.ts';
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

  it('shows commands that work as pasted, one after the other', async () => {
    const commands = blocksOf(PAGE).filter(({ language }) => language === 'sh');
    const env = {
      ...process.env,
      API: `${server.origin.replace('127.0.0.1', 'localhost')}/api/v1`,
      AUTH: `Authorization: Bearer ${await accessToken(server)}`,
      JSON: 'Content-Type: application/json',
    };
    const outputs = [];
    for (const { text } of commands) outputs.push(JSON.parse((await run('bash', ['-c', text], { env })).stdout));
    const [executed, raw, records, settings, ...others] = outputs;
    expect(others).to.deep.equal([]);
    expect(executed.data).to.deep.equal([{ id: 1, text: 'Water the plants' }]);
    expect(raw).to.deep.equal(executed.data);
    expect(records.executions.map((execution: { tool_name: string }) => execution.tool_name)).to.include('proxy');
    expect(settings.environment).to.include({ keep_execution_contents: true, execution_retention_days: 30 });
  });

  it('names the limits that the code has', () => {
    const MIB = 1024 * 1024;
    const stated = [
      `at most ${words(RETRY_LIMITS.maxRequests)} requests in ${RETRY_LIMITS.deadlineMs / 1000} seconds`,
      `more than ${words(RETRY_LIMITS.maxWaitMs / 1000)} seconds`,
      `${DEFAULT_LIMITS.callsPerOrigin} places for calls under way and ${DEFAULT_LIMITS.queuePerOrigin} in a queue`,
      `leaves ${words(DEFAULT_LIMITS.breakerFailures)} calls in a row`,
      `for ${words(DEFAULT_LIMITS.breakerPauseMs / 1000)} seconds`,
      `up to ${PAGE_LIMITS.pages} pages, ${PAGE_LIMITS.bytes / MIB} MiB and ${PAGE_LIMITS.timeMs / 1000} seconds`,
      `for ${FILE_LIFETIME_MS === 3_600_000 ? 'one hour' : '?'}`,
      `at most ${DEFAULT_LIMITS.maxBytes / MIB} MiB`,
      `at most ${MAX_KEPT_BYTES / 1024 / MIB} GiB`,
      `up to ${DEFAULT_LIMITS.streamMaxBytes / MIB} MiB`,
    ];
    const text = PAGE.replace(/\s+/g, ' ');
    expect(stated.filter((sentence) => !text.includes(sentence))).to.deep.equal([]);
  });
});

function words(number: number): string {
  return ['none', 'one', 'two', 'three', 'four', 'five'][number] ?? String(number);
}
