import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { startEmulatedVendor } from '../support/emulators.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';

const ADA = 'ghp_tokenOfAda00000000000001';
const GRACE = 'ghp_tokenOfGrace000000000002';
const REPO = { owner: 'ada', repo: 'engine' };

describe('executing the tools of GitHub', () => {
  let github: Upstream;
  let server: TestServer;
  let ada: string;

  before(async () => {
    github = await startEmulatedVendor('github', {
      // The emulator treats an unknown user as the first one, so no test uses the first one.
      seed: {
        users: [{ login: 'nobody' }, { login: 'ada' }, { login: 'grace' }],
        repos: [{ owner: 'ada', name: 'engine' }],
      },
      tokens: { [ADA]: { login: 'ada', scopes: ['repo'] }, [GRACE]: { login: 'grace', scopes: ['repo'] } },
      accepts: ({ headers }) => [`Bearer ${ADA}`, `Bearer ${GRACE}`].includes(headers['authorization'] ?? ''),
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
    ada = (await createAccount(server, { token: ADA })).id;
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  it('is refused with a token that was never issued', async () => {
    const { id } = await createAccount(server, { token: 'ghp_neverIssued' });
    const answer = await execute(server, id, 'github_get_authenticated_user');
    expect(answer.body.tool_error).to.include({ kind: 'upstream_auth', upstream_status: 401 });
  });

  it('acts as the user of the account, and as no other', async () => {
    const grace = (await createAccount(server, { token: GRACE })).id;
    const logins = [];
    for (const id of [ada, grace, ada]) {
      logins.push((await execute(server, id, 'github_get_authenticated_user')).body.data.login);
    }
    expect(logins).to.deep.equal(['ada', 'grace', 'ada']);
  });

  it('also accepts a token of the OAuth flow', async () => {
    const connection = await createConnection(server, { type: 'OAUTH' });
    const { id } = await createAccount(server, {
      connector: connection.key_id,
      connectedAccount: { authorization_details: { oauth_token: { access_token: GRACE, scopes: ['repo'] } } },
    });
    expect((await execute(server, id, 'github_get_authenticated_user')).body.data.login).to.equal('grace');
  });

  it('creates, reads, changes, comments and closes an issue', async () => {
    const created = await execute(server, ada, 'github_create_issue', {
      ...REPO,
      title: 'Äpfel & "Birnen"',
      body: 'Text',
    });
    expect(created.status, created.text).to.equal(200);
    const issue_number = created.body.data.number;
    const one = { ...REPO, issue_number };
    await execute(server, ada, 'github_update_issue', { ...one, title: 'Changed', state: 'closed' });
    const comment = await execute(server, ada, 'github_create_issue_comment', { ...one, body: 'Done' });
    expect(comment.status, comment.text).to.equal(200);
    const read = await execute(server, ada, 'github_get_issue', one);
    expect(read.body.data).to.include({ number: issue_number, title: 'Changed', state: 'closed' });
    const comments = await execute(server, ada, 'github_list_issue_comments', one);
    expect(comments.body.data.map((entry: { body: string }) => entry.body)).to.deep.equal(['Done']);
  });

  describe('page by page', () => {
    const list = (cursor?: string) =>
      execute(server, ada, 'github_list_issues', { ...REPO, state: 'open', per_page: 2, ...(cursor && { cursor }) });

    before(async () => {
      for (let made = 1; made <= 5; made++)
        await execute(server, ada, 'github_create_issue', { ...REPO, title: `Page ${made}` });
    });

    it('returns every issue once, by next_cursor, and none after the last page', async () => {
      const pages = [await list()];
      while (pages.at(-1)?.body.next_cursor) pages.push(await list(pages.at(-1)?.body.next_cursor));
      expect(pages.map((page) => page.body.data.length)).to.deep.equal([2, 2, 1]);
      const titles = pages.flatMap((page) => page.body.data.map((issue: { title: string }) => issue.title));
      expect(titles.toSorted()).to.deep.equal(['Page 1', 'Page 2', 'Page 3', 'Page 4', 'Page 5']);
      expect(pages.at(-1)?.body).not.to.have.property('next_cursor');
    });

    it('refuses a cursor of another tool, and an invented one', async () => {
      const { next_cursor: cursor } = (await list()).body;
      const foreign = await execute(server, ada, 'github_list_commits', { ...REPO, cursor });
      for (const answer of [foreign, await list('invented')]) {
        expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
        expect(answer.body.errors[0].field).to.equal('tool_input.cursor');
      }
    });

    it('keeps to the path of the tool for any cursor', async () => {
      const at = 'page=2&per_page=1#/../../user';
      const cursor = Buffer.from(JSON.stringify({ tool: 'github_list_issues', at })).toString('base64url');
      const before = github.requests.length;
      const answer = await list(cursor);
      expect(answer.status).to.equal(400);
      expect(github.requests).to.have.length(before);
    });
  });

  it('reports what is missing when a repository does not exist', async () => {
    const answer = await execute(server, ada, 'github_list_issues', { owner: 'ada', repo: 'unknown' });
    expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
    expect(answer.body.tool_error).to.include({ kind: 'upstream_not_found', retryable: false, upstream_status: 404 });
  });

  it('names each invalid field of an input, and sends nothing', async () => {
    const before = github.requests.length;
    const answer = await execute(server, ada, 'github_create_issue', {
      owner: 'ada',
      title: 1,
      colour: 'red',
      labels: [''],
    });
    expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
    expect(answer.body.errors.map((e: { field: string }) => e.field).toSorted()).to.deep.equal([
      'tool_input.colour',
      'tool_input.labels[0]',
      'tool_input.repo',
      'tool_input.title',
    ]);
    expect(github.requests).to.have.length(before);
  });

  describe('a dry run', () => {
    const input = { ...REPO, title: 'Dry ü', labels: ['bug', 'a b'] };

    it('shows exactly what is sent afterwards, with the credential masked', async () => {
      const dry = await execute(server, ada, 'github_create_issue', input, { body: { dry_run: true } });
      expect(dry.status, dry.text).to.equal(200);
      const sentBefore = github.requests.length;
      await execute(server, ada, 'github_create_issue', input);
      expect(github.requests).to.have.length(sentBefore + 1);
      const sent = github.requests.at(-1);
      const { method, url, headers, body } = dry.body.dry_run_request;
      expect([method, new URL(url).origin]).to.deep.equal([sent?.method, 'https://api.github.com']);
      expect(url.slice('https://api.github.com'.length)).to.equal(sent?.target);
      expect(body).to.deep.equal(JSON.parse(sent?.body ?? ''));
      for (const [name, value] of Object.entries(headers as Record<string, string>)) {
        const shown = value.replace('[secret]', ADA);
        expect(sent?.headers[name.toLowerCase()], name).to.equal(shown);
      }
      expect(dry.text).not.to.include(ADA);
      expect(headers.authorization).to.equal('Bearer [secret]');
    });

    it('sends nothing, records nothing and does not count as a use', async () => {
      const { id } = await createAccount(server, { token: ADA });
      const sentBefore = github.requests.length;
      const dry = await execute(server, id, 'github_create_issue', input, { body: { dry_run: true } });
      expect(dry.body.data).to.equal(null);
      expect(github.requests).to.have.length(sentBefore);
      expect((await server.call('GET', `/api/v1/executions/${dry.body.execution_id}`)).status).to.equal(404);
      const details = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
      expect(details.body.connected_account.last_used_at).to.equal(null);
    });

    it('refuses what the real execution would refuse', async () => {
      const bad = await execute(server, ada, 'github_create_issue', { owner: 'ada' }, { body: { dry_run: true } });
      expect(bad.body.code).to.equal('INVALID_TOOL_INPUT');
      const unknown = await execute(server, ada, 'github_fly', {}, { body: { dry_run: true } });
      expect(unknown.body.code).to.equal('NOT_FOUND');
    });
  });

  it('records which client executed which tool', async () => {
    const answer = await execute(server, ada, 'github_get_authenticated_user', {}, { body: { agent_run_id: 'run-7' } });
    const record = await finishedExecution(server, answer.body.execution_id);
    expect(record).to.include({
      connected_account_id: ada,
      connector: 'github',
      api_client_id: 'test-client',
      agent_run_id: 'run-7',
      status: 'SUCCEEDED',
    });
    expect(record.duration_ms).to.be.at.least(0);
  });
});
