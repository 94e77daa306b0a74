import { expect } from 'chai';
import { expectAllRun } from '../support/emulated-tools.ts';
import { startEmulatedVendor, storeOf } from '../support/emulators.ts';
import { expectRefusal, toolRunner } from '../support/execute.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';

const TOKEN = 'ghp_tokenOfAda00000000000001';
const UNKNOWN = 'ghp_tokenThatWasNeverIssued';
const REPO = { owner: 'ada', repo: 'engine' };
const ORG = { org: 'acme' };

const NO_WORKFLOW = 'The emulator has no request that creates a workflow, so it has no runs and jobs either.';
const PART_OF_NAME = 'The emulator takes the rest of the path for a part of the name of the commit.';
const EXCUSES = {
  cancel_workflow_run: NO_WORKFLOW,
  disable_workflow: NO_WORKFLOW,
  enable_workflow: NO_WORKFLOW,
  get_combined_status: PART_OF_NAME,
  get_job_logs: NO_WORKFLOW,
  get_workflow_run: NO_WORKFLOW,
  list_check_annotations: 'The emulator returns an object, where GitHub returns a list.',
  list_pull_requests_of_commit: PART_OF_NAME,
  list_repository_comments: 'The emulator takes `comments` in the path for the number of an issue.',
  list_workflow_run_artifacts: NO_WORKFLOW,
  list_workflow_run_jobs: NO_WORKFLOW,
  rerun_workflow: NO_WORKFLOW,
  run_workflow: NO_WORKFLOW,
};

type Run = Awaited<ReturnType<typeof toolRunner>>;
type Stored = ReturnType<typeof storeOf>;

describe('tools that the emulator of GitHub knows', () => {
  let github: Upstream;
  let server: TestServer;

  before(async () => {
    github = await startEmulatedVendor('github', {
      seed: {
        // The emulator treats an unknown user as the first one, so no test uses the first one.
        users: [{ login: 'nobody' }, { login: 'ada', email: 'ada@example.com' }, { login: 'grace' }],
        orgs: [{ login: 'acme', name: 'Acme', members: [{ login: 'ada', role: 'admin' }] }],
        repos: [
          { owner: 'ada', name: 'engine', description: 'Analytical' },
          { owner: 'grace', name: 'compiler', language: 'COBOL', topics: ['languages'] },
        ],
      },
      tokens: { [TOKEN]: { login: 'ada', scopes: ['repo', 'admin:org'] } },
      accepts: ({ headers }) => headers['authorization'] === `Bearer ${TOKEN}`,
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  it('all run, from the profile of a user to a release, or have a reason not to', async () => {
    const withToken = (token: string) => ({ authorization_details: { oauth_token: { access_token: token } } });
    await expectRefusal(server, 'github', withToken(UNKNOWN), 'get_authenticated_user');
    const ran = new Set<string>();
    const run = await toolRunner(server, 'github', withToken(TOKEN), ran);
    const stored = storeOf(github, `Bearer ${TOKEN}`);
    for (const part of [users, repositories, issues, labelled, pulls, reviews, releases, hooks, organization]) {
      await part(run, stored);
    }
    await actions(run, stored);
    await searches(run);
    expectAllRun('github', ran, EXCUSES);
  });
});

const names = (list: { name: string }[]) => list.map(({ name }) => name);
const logins = (list: { login: string }[]) => list.map(({ login }) => login);

async function users(run: Run, stored: Stored) {
  expect((await run('get_authenticated_user')).login).to.equal('ada');
  await run('update_profile', { bio: 'First programmer' });
  expect((await stored('/user')).bio).to.equal('First programmer');
  expect((await run('get_user', { username: 'grace' })).login).to.equal('grace');
  expect((await run('list_my_emails'))[0]).to.include({ email: 'ada@example.com' });
  expect(await run('list_followers', { username: 'grace' })).to.deep.equal([]);
  expect(logins(await run('list_my_organizations'))).to.deep.equal(['acme']);
  expect(await run('get_rate_limit')).to.be.an('object');
}

async function repositories(run: Run, stored: Stored) {
  await run('create_repository', { name: 'notes', auto_init: true });
  const notes = { owner: 'ada', repo: 'notes' };
  await run('update_repository', { ...notes, description: 'Notes on the engine', has_wiki: false });
  expect(await stored('/repos/ada/notes')).to.include({ description: 'Notes on the engine', has_wiki: false });
  expect(await run('get_repository', notes)).to.include({ description: 'Notes on the engine' });
  const own = (await run('list_repositories')).map((each: { full_name: string }) => each.full_name);
  expect(own).to.include.members(['ada/engine', 'ada/notes']);
  expect(JSON.stringify(await run('list_user_repositories', { username: 'ada' }))).to.include('ada/notes');
  await run('replace_topics', { ...notes, names: ['history'] });
  expect(await stored('/repos/ada/notes/topics')).to.deep.equal({ names: ['history'] });
  expect(await run('list_topics', notes)).to.deep.equal({ names: ['history'] });
  expect(await run('list_languages', { owner: 'grace', repo: 'compiler' })).to.have.property('COBOL');
  expect(logins(await run('list_contributors', REPO))).to.include('ada');
  expect((await run('get_readme', REPO)).content).to.include('# engine');

  await run('create_fork', { owner: 'grace', repo: 'compiler' });
  expect(await stored('/repos/ada/compiler')).to.include({ fork: true });
  expect(await run('list_forks', { owner: 'grace', repo: 'compiler' })).to.have.length(1);
  await run('add_collaborator', { ...REPO, username: 'grace', permission: 'push' });
  expect(logins(await run('list_collaborators', REPO))).to.include('grace');
  const permission = await run('get_collaborator_permission', { ...REPO, username: 'grace' });
  expect(permission).to.include({ permission: 'push' });
  await run('remove_collaborator', { ...REPO, username: 'grace' });
  expect(logins(await stored('/repos/ada/engine/collaborators'))).to.not.include('grace');
  await run('delete_repository', notes);
  expect(await stored('/repos/ada/notes')).to.include({ message: 'Not Found' });
}

async function issues(run: Run, stored: Stored) {
  const { number: issue_number } = await run('create_issue', { ...REPO, title: 'Carry is lost', body: 'At 50 digits' });
  const one = { ...REPO, issue_number };
  const path = `/repos/ada/engine/issues/${issue_number}`;
  await run('update_issue', { ...one, title: 'The carry is lost' });
  expect((await stored(path)).title).to.equal('The carry is lost');
  expect(await run('get_issue', one)).to.include({ title: 'The carry is lost', state: 'open' });
  expect(await run('list_issues', REPO)).to.have.length(1);
  await run('add_assignees', { ...one, assignees: ['ada'] });
  expect(logins((await stored(path)).assignees)).to.deep.equal(['ada']);
  await run('remove_assignees', { ...one, assignees: ['ada'] });
  expect((await stored(path)).assignees).to.deep.equal([]);
  const { id: comment_id } = await run('create_issue_comment', { ...one, body: 'Seen' });
  await run('update_issue_comment', { ...REPO, comment_id, body: 'Seen twice' });
  expect((await stored(`/repos/ada/engine/issues/comments/${comment_id}`)).body).to.equal('Seen twice');
  expect((await run('list_issue_comments', one))[0].body).to.equal('Seen twice');
  await run('delete_issue_comment', { ...REPO, comment_id });
  expect(await stored(`${path}/comments`)).to.deep.equal([]);
  await run('lock_issue', { ...one, lock_reason: 'resolved' });
  expect(await stored(path)).to.include({ locked: true, active_lock_reason: 'resolved' });
  await run('unlock_issue', one);
  expect((await stored(path)).locked).to.equal(false);
  expect(await run('list_issue_timeline', one)).to.be.an('array');
}

async function labelled(run: Run, stored: Stored) {
  const one = { ...REPO, issue_number: (await stored('/repos/ada/engine/issues'))[0].number };
  const labels = async () => names(await stored(`/repos/ada/engine/issues/${one.issue_number}/labels`));
  await run('create_label', { ...REPO, name: 'arithmetic', color: 'ff0000' });
  await run('update_label', { ...REPO, name: 'arithmetic', new_name: 'maths', color: '00ff00' });
  expect(await stored('/repos/ada/engine/labels/maths')).to.include({ color: '00ff00' });
  expect(names(await run('list_labels', REPO))).to.include('maths');
  await run('add_issue_labels', { ...one, labels: ['maths'] });
  expect(names(await run('list_issue_labels', one))).to.deep.equal(['maths']);
  await run('remove_issue_label', { ...one, name: 'maths' });
  expect(await labels()).to.deep.equal([]);
  await run('set_issue_labels', { ...one, labels: ['maths'] });
  expect(await labels()).to.deep.equal(['maths']);
  await run('delete_label', { ...REPO, name: 'maths' });
  expect(await stored('/repos/ada/engine/labels/maths')).to.include({ message: 'Not Found' });

  const { number: milestone_number } = await run('create_milestone', { ...REPO, title: 'Demonstration' });
  await run('update_milestone', { ...REPO, milestone_number, description: 'Before the Royal Society' });
  expect((await run('list_milestones', REPO))[0]).to.include({ description: 'Before the Royal Society' });
  await run('delete_milestone', { ...REPO, milestone_number });
  expect(await stored('/repos/ada/engine/milestones')).to.deep.equal([]);
}

async function pulls(run: Run, stored: Stored) {
  const [{ sha }] = await run('list_commits', REPO);
  expect((await run('get_commit', { ...REPO, ref: sha })).sha).to.equal(sha);
  await run('create_branch', { ...REPO, branch: 'carry', sha });
  expect((await run('get_branch', { ...REPO, branch: 'carry' })).commit.sha).to.equal(sha);
  await run('create_ref', { ...REPO, ref: 'refs/heads/old', sha });
  expect(names(await run('list_branches', REPO))).to.have.members(['main', 'carry', 'old']);
  await run('delete_ref', { ...REPO, ref: 'heads/old' });
  expect(names(await stored('/repos/ada/engine/branches'))).to.not.include('old');
  expect((await run('get_tree', { ...REPO, tree_sha: 'main' })).tree[0].path).to.equal('README.md');
  const { sha: tree } = await stored('/repos/ada/engine/git/trees/main');
  const commit = await stored('/repos/ada/engine/git/commits', { message: 'Keep the carry', tree, parents: [sha] });
  await run('update_ref', { ...REPO, ref: 'heads/carry', sha: commit.sha });
  expect((await stored('/repos/ada/engine/branches/carry')).commit.sha).to.equal(commit.sha);
  expect(await run('compare_commits', { ...REPO, basehead: 'main...carry' })).to.include({ ahead_by: 1 });
  await run('create_commit_comment', { ...REPO, commit_sha: sha, body: 'Well begun' });
  expect(await stored(`/repos/ada/engine/commits/${sha}/comments`)).to.have.length(1);
  expect(await run('list_tags', REPO)).to.deep.equal([]);

  const made = await run('create_pull_request', { ...REPO, title: 'Carry', head: 'carry', base: 'main' });
  const one = { ...REPO, pull_number: made.number };
  await run('update_pull_request', { ...one, title: 'Keep the carry' });
  expect((await stored(`/repos/ada/engine/pulls/${made.number}`)).title).to.equal('Keep the carry');
  expect(await run('get_pull_request', one)).to.include({ title: 'Keep the carry', state: 'open' });
  expect(await run('list_pull_requests', REPO)).to.have.length(1);
  expect((await run('list_pull_request_commits', one)).map((each: { sha: string }) => each.sha)).to.include(commit.sha);
  expect(await run('list_pull_request_files', one)).to.be.an('array');
}

async function reviews(run: Run, stored: Stored) {
  const [{ number: pull_number, head }] = await stored('/repos/ada/engine/pulls');
  const one = { ...REPO, pull_number };
  const path = `/repos/ada/engine/pulls/${pull_number}`;
  await run('request_reviewers', { ...one, reviewers: ['grace'] });
  expect(logins((await stored(path)).requested_reviewers)).to.deep.equal(['grace']);
  await run('remove_requested_reviewers', { ...one, reviewers: ['grace'] });
  expect((await stored(path)).requested_reviewers).to.deep.equal([]);
  const { id: review_id } = await run('create_pull_request_review', {
    ...one,
    event: 'REQUEST_CHANGES',
    body: 'Test it',
  });
  expect((await run('list_pull_request_reviews', one))[0]).to.include({ id: review_id, state: 'CHANGES_REQUESTED' });
  await run('dismiss_review', { ...one, review_id, message: 'Tested' });
  expect(await stored(`${path}/reviews/${review_id}`)).to.include({ state: 'DISMISSED', body: 'Tested' });
  const { id: pending } = await run('create_pending_review', { ...one, body: 'So far' });
  expect(await stored(`${path}/reviews/${pending}`)).to.include({ state: 'PENDING', body: 'So far' });
  await run('submit_pending_review', { ...one, review_id: pending, event: 'COMMENT', body: 'All in all' });
  expect(await stored(`${path}/reviews/${pending}`)).to.include({ state: 'COMMENTED', body: 'All in all' });
  const place = { commit_id: head.sha, path: 'README.md', line: 1, side: 'RIGHT' };
  const { id: comment_id } = await run('create_review_comment', { ...one, body: 'Why?', ...place });
  await run('update_review_comment', { ...REPO, comment_id, body: 'Why so?' });
  expect((await run('list_review_comments', one))[0]).to.include({ body: 'Why so?', line: 1 });
  await run('delete_review_comment', { ...REPO, comment_id });
  expect(await stored(`${path}/comments`)).to.deep.equal([]);
  await run('update_pull_request_branch', one);
  const { head: next } = await stored(path);
  expect(next.sha).to.not.equal(head.sha);
  expect(await run('merge_pull_request', { ...one, merge_method: 'squash' })).to.include({ merged: true });
  expect(await stored(path)).to.include({ merged: true, state: 'closed' });
}

async function releases(run: Run, stored: Stored) {
  const notes = await run('generate_release_notes', { ...REPO, tag_name: 'v1.0' });
  const { id: release_id } = await run('create_release', { ...REPO, tag_name: 'v1.0', name: 'One', body: notes.body });
  await run('update_release', { ...REPO, release_id, name: 'First' });
  expect((await stored(`/repos/ada/engine/releases/${release_id}`)).name).to.equal('First');
  expect((await run('list_releases', REPO))[0]).to.include({ name: 'First' });
  expect((await run('get_latest_release', REPO)).id).to.equal(release_id);
  expect((await run('get_release_by_tag', { ...REPO, tag: 'v1.0' })).id).to.equal(release_id);
  await run('delete_release', { ...REPO, release_id });
  expect(await stored('/repos/ada/engine/releases')).to.deep.equal([]);
}

async function hooks(run: Run, stored: Stored) {
  const config = { url: 'https://127.0.0.1:9/github', content_type: 'json' };
  const { id: hook_id } = await run('create_webhook', { ...REPO, config, events: ['push'] });
  await run('update_webhook', { ...REPO, hook_id, events: ['push', 'issues'] });
  expect((await stored(`/repos/ada/engine/hooks/${hook_id}`)).events).to.deep.equal(['push', 'issues']);
  expect((await run('list_webhooks', REPO))[0]).to.include({ id: hook_id });
  await run('ping_webhook', { ...REPO, hook_id });
  expect((await run('list_webhook_deliveries', { ...REPO, hook_id }))[0]).to.include({ event: 'ping' });
  await run('delete_webhook', { ...REPO, hook_id });
  expect(await stored('/repos/ada/engine/hooks')).to.deep.equal([]);
}

async function organization(run: Run, stored: Stored) {
  expect(await run('get_organization', ORG)).to.include({ login: 'acme' });
  await run('set_organization_membership', { ...ORG, username: 'grace', role: 'member' });
  expect(await run('get_organization_membership', { ...ORG, username: 'grace' })).to.include({ state: 'active' });
  expect(logins(await run('list_organization_members', ORG))).to.have.members(['ada', 'grace']);
  await run('create_organization_repository', { ...ORG, name: 'site', auto_init: true });
  expect(await stored('/repos/acme/site')).to.include({ name: 'site' });
  const { slug: team_slug } = await run('create_team', { ...ORG, name: 'Compilers', privacy: 'closed' });
  const team = { ...ORG, team_slug };
  await run('update_team', { ...team, description: 'They compile' });
  expect(await run('get_team', team)).to.include({ description: 'They compile' });
  expect((await run('list_teams', ORG)).map((each: { slug: string }) => each.slug)).to.include(team_slug);
  await run('add_team_member', { ...team, username: 'grace', role: 'maintainer' });
  expect(logins(await run('list_team_members', team))).to.deep.equal(['grace']);
  await run('remove_team_member', { ...team, username: 'grace' });
  expect(await stored(`/orgs/acme/teams/${team_slug}/members`)).to.deep.equal([]);
  expect(await run('list_team_repositories', team)).to.deep.equal([]);
  await run('delete_team', team);
  expect(await stored(`/orgs/acme/teams/${team_slug}`)).to.include({ message: 'Not Found' });
}

async function actions(run: Run, stored: Stored) {
  const sha = (await stored('/repos/ada/engine/branches/main')).commit.sha;
  const { id: check_run_id } = await stored('/repos/ada/engine/check-runs', { name: 'lint', head_sha: sha });
  expect(await run('get_check_run', { ...REPO, check_run_id })).to.include({ name: 'lint' });
  expect(names(await run('list_check_runs', { ...REPO, ref: sha }))).to.deep.equal(['lint']);
  await run('rerequest_check_run', { ...REPO, check_run_id });
  expect((await stored(`/repos/ada/engine/check-runs/${check_run_id}`)).status).to.equal('queued');
  expect(await run('list_workflows', REPO)).to.deep.equal([]);
  expect(await run('list_workflow_runs', REPO)).to.deep.include({ total_count: 0 });
  expect(await run('list_actions_secrets', REPO)).to.deep.equal([]);
}

async function searches(run: Run) {
  expect(JSON.stringify(await run('search_issues', { q: 'carry' }))).to.include('The carry is lost');
  expect(JSON.stringify(await run('search_repositories', { q: 'engine' }))).to.include('ada/engine');
  expect(logins(await run('search_users', { q: 'grace' }))).to.include('grace');
  expect(await run('search_code', { q: 'engine repo:ada/engine' })).to.be.an('object');
  expect(JSON.stringify(await run('search_commits', { q: 'Initial' }))).to.include('Initial commit');
  expect(names(await run('search_topics', { q: 'languages' }))).to.include('languages');
}
