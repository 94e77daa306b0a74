import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

describe('a result that comes in pages', () => {
  let github: Upstream;
  let server: TestServer;
  let id: string;

  before(async () => {
    github = await startUpstream(({ target }, res) => {
      const page = Number(new URL(target, 'http://x').searchParams.get('page') ?? 1);
      const next = { link: `<https://api.github.com/elsewhere?page=${page + 1}>; rel="next"` };
      json(res, 200, [{ number: page }], page < 4 ? next : {});
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
    id = (await createAccount(server)).id;
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  const list = (input: object, body: object) =>
    execute(server, id, 'github_list_issues', { owner: 'octocat', repo: 'hello', ...input }, { body: { ...body } });

  it('is read by one call with all_pages', async () => {
    const answer = await list({}, { all_pages: true });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.data).to.deep.equal([1, 2, 3, 4].map((number) => ({ number })));
    expect(answer.body.pages).to.deep.equal({
      count: 4,
      complete: true,
      statement: '4 pages were read; there are no more pages.',
    });
    expect(answer.body).not.to.have.property('next_cursor');
    // The address that the provider returns is never called; only its query is used.
    expect(github.requests.every(({ target }) => target.startsWith('/repos/octocat/hello/issues?'))).to.equal(true);
  });

  it('is read from a cursor onwards', async () => {
    const first = await list({}, {});
    const rest = await list({ cursor: first.body.next_cursor }, { all_pages: true });
    expect(rest.body.data).to.deep.equal([2, 3, 4].map((number) => ({ number })));
  });

  it('is not supported by every tool: 400 names the field', async () => {
    const answer = await execute(server, id, 'github_get_authenticated_user', {}, { body: { all_pages: true } });
    expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
    expect(answer.body.errors[0].field).to.equal('all_pages');
  });
});
