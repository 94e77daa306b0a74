import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { expectAllRun, knownDocuments } from '../support/emulated-tools.ts';
import { startEmulatedVendor, storeOf } from '../support/emulators.ts';
import { execute, expectRefusal, toolRunner } from '../support/execute.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { ReceivedRequest, Upstream } from '../support/upstream.ts';
import { json } from '../support/upstream.ts';

const TOKEN = 'tokenOfTheAdministrator0001';
const UNKNOWN = 'tokenThatWasNeverIssued0001';
const ATLAS_CLIENT = { client_id: 'mdb_sa_id_0001', client_secret: 'mdb_sa_sk_0001' };

describe('tools that the emulator of their vendor knows, for projects', () => {
  let linear: Upstream;
  let vercel: Upstream;
  let atlas: Upstream;
  let microsoft: Upstream;
  let server: TestServer;

  before(async () => {
    const accepts = (request: ReceivedRequest) => request.headers['authorization'] === `Bearer ${TOKEN}`;
    const tokensOf = (login: string) => ({ [TOKEN]: { login, scopes: ['read', 'write'] } });
    linear = await startEmulatedVendor('linear', {
      seed: {
        users: [{ email: 'ada@example.com', name: 'Ada Lovelace' }],
        teams: [{ key: 'OPS', name: 'Operations' }],
      },
      tokens: tokensOf('ada@example.com'),
      accepts,
    });
    vercel = await startEmulatedVendor('vercel', {
      seed: {
        users: [{ username: 'ada', email: 'ada@example.com', name: 'Ada' }],
        teams: [{ slug: 'acme', name: 'Acme' }],
        projects: [{ name: 'storefront', team: 'acme', framework: 'nextjs' }],
      },
      tokens: tokensOf('ada'),
      accepts,
      refusal: { status: 403, body: { error: { code: 'forbidden', message: 'Not authorized', invalidToken: true } } },
    });
    atlas = await startEmulatedVendor('mongoatlas', {
      seed: {
        projects: [{ name: 'Shop' }],
        clusters: [{ name: 'Orders', project: 'Shop', mongodb_version: '8.0' }],
        database_users: [{ username: 'reports', project: 'Shop' }],
      },
      accepts,
    });
    // The emulator of Atlas does not issue tokens, so the gate in front of it issues one to the service account.
    const { handler } = atlas;
    const basic = Buffer.from(`${ATLAS_CLIENT.client_id}:${ATLAS_CLIENT.client_secret}`).toString('base64');
    atlas.handler = (request, res, req) => {
      if (request.target !== '/api/oauth/token') return handler(request, res, req);
      if (request.headers['authorization'] !== `Basic ${basic}`) return json(res, 401, { error: 'invalid_client' });
      return json(res, 200, { access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 });
    };
    microsoft = await startEmulatedVendor('microsoft', {
      seed: { users: [{ email: 'ada@example.com', name: 'Ada Lovelace' }] },
      tokens: tokensOf('ada@example.com'),
      accepts,
    });
    const overrides = [
      linear.endpointOverride('https://api.linear.app'),
      vercel.endpointOverride('https://api.vercel.com'),
      atlas.endpointOverride('https://cloud.mongodb.com'),
      microsoft.endpointOverride('https://graph.microsoft.com'),
    ];
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
  });
  after(async () => {
    await server.stop();
    for (const vendor of [linear, vercel, atlas, microsoft]) await vendor.stop();
  });

  const withToken = (access_token: string) => ({ authorization_details: { oauth_token: { access_token } } });
  const withDetails = (details: Record<string, string>) => ({ authorization_details: { static_auth: { details } } });

  it('work in Vercel, from a project to a new deployment', async () => {
    await expectRefusal(server, 'vercel', withDetails({ token: UNKNOWN }), 'list_teams', 403);
    const ran = new Set<string>();
    const run = await toolRunner(server, 'vercel', withDetails({ token: TOKEN }), ran);
    const stored = storeOf(vercel, `Bearer ${TOKEN}`);
    const { user } = await stored('/v2/user');
    expect(await run('get_user')).to.include({ id: user.id, username: 'ada', email: 'ada@example.com' });
    const [{ id: team_id }] = (await run('list_teams')).filter(({ slug }: { slug: string }) => slug === 'acme');
    const { id: project } = await run('get_project', { project: 'storefront', team_id });
    expect(await stored(`/v9/projects/${project}?teamId=${team_id}`)).to.include({ framework: 'nextjs' });
    const variable = { key: 'FEATURE_X', value: 'on', type: 'plain', target: ['production'] };
    await run('create_environment_variable', { project, team_id, ...variable });
    await run('create_environment_variable', { project, team_id, ...variable, value: 'off', upsert: true });
    const { envs } = await stored(`/v10/projects/${project}/env?teamId=${team_id}`);
    expect(envs).to.have.length(1);
    expect(envs[0]).to.deep.include({ ...variable, value: 'off' });

    const first = await stored(`/v13/deployments?teamId=${team_id}`, { name: 'storefront' });
    const again = { deployment_id: first.id, name: 'storefront', target: 'production', team_id };
    const { id: deployment } = await run('redeploy', again);
    const path = `/v13/deployments/${deployment}?teamId=${team_id}`;
    expect(await stored(path)).to.include({ projectId: project, target: 'production', state: 'READY' });
    expect(await run('get_deployment', { deployment, team_id })).to.include({ readyState: 'READY' });
    const uids = (list: { uid: string }[]) => list.map(({ uid }) => uid);
    const listed = await run('list_deployments', { project_id: project, team_id });
    expect(uids(listed)).to.have.members([first.id, deployment]);
    const production = await run('list_deployments', { target: 'production', state: 'READY', team_id });
    expect(uids(production)).to.deep.equal([deployment]);
    expectAllRun('vercel', ran, {
      cancel_deployment: 'Deployments of the emulator are ready immediately, so that none can be cancelled; see below.',
    });

    const { id } = await createAccount(server, {
      connector: 'vercel',
      connectedAccount: withDetails({ token: TOKEN }),
    });
    const { body } = await execute(server, id, 'vercel_cancel_deployment', { id: deployment, team_id });
    expect(body.tool_error).to.include({ kind: 'upstream_bad_request', upstream_status: 400 });
    expect(body.tool_error.message).to.include('cannot be canceled in its current state');
    expect((await stored(path)).readyState).to.equal('READY');
  });

  it('work in Linear, from a team to an archived issue', async () => {
    await expectRefusal(server, 'linear', withToken(UNKNOWN), 'list_teams');
    const ran = new Set<string>();
    const run = await toolRunner(server, 'linear', withToken(TOKEN), ran);
    const stored = async (query: string) => (await storeOf(linear, `Bearer ${TOKEN}`)('/graphql', { query })).data;

    const teams = await run('list_teams');
    const { id: team_id } = teams.find(({ key }: { key: string }) => key === 'OPS');
    const [{ id: assignee_id }] = await run('list_users', { email: 'ada@example.com' });
    const label = await run('create_label', { name: 'outage', color: '#eb5757', team_id });
    const created = { team_id, title: 'Orders fail', priority: 1, assignee_id, label_ids: [label.id] };
    const { id: issue_id, identifier } = await run('create_issue', created);
    const ISSUE = `{ issue(id: "${issue_id}") { title priority dueDate archivedAt team { id } assignee { id }
      labels { nodes { name color } } comments { nodes { id } } } }`;
    const issue = async () => (await stored(ISSUE)).issue;
    expect(await issue()).to.deep.include({
      title: 'Orders fail',
      priority: 1,
      team: { id: team_id },
      assignee: { id: assignee_id },
      labels: { nodes: [{ name: 'outage', color: '#eb5757' }] },
    });
    await run('update_issue', { issue_id: identifier, priority: 2, due_date: '2030-12-01', assignee_id: null });
    expect(await issue()).to.include({ title: 'Orders fail', priority: 2, dueDate: '2030-12-01', assignee: null });
    const COMMENT = `mutation { commentCreate(input: { issueId: "${issue_id}", body: "Gone" }) { comment { id } } }`;
    const { id: comment_id } = (await stored(COMMENT)).commentCreate.comment;
    expect((await issue()).comments.nodes).to.deep.equal([{ id: comment_id }]);
    await run('delete_comment', { comment_id });
    expect((await issue()).comments.nodes).to.deep.equal([]);
    expect((await issue()).archivedAt).to.equal(null);
    await run('archive_issue', { issue_id });
    expect((await issue()).archivedAt).to.be.a('string');
    const store = storeOf(linear, `Bearer ${TOKEN}`);
    expectAllRun('linear', ran, {}, await knownDocuments('linear', (query) => store('/graphql', { query })));
  });

  it('work in MongoDB Atlas, from projects to the users of their databases', async () => {
    const client = { connector: 'mongodb_atlas', ...ATLAS_CLIENT };
    const { key_id } = await createConnection(server, { ...client, client_secret: 'mdb_sa_sk_9999' });
    const { id } = await createAccount(server, { connector: key_id, connectedAccount: {} });
    const { body } = await execute(server, id, 'mongodb_atlas_list_projects');
    expect(body.tool_error).to.include({ kind: 'upstream_auth' });

    await createConnection(server, { ...client, key_id: 'mongodb_atlas' });
    const ran = new Set<string>();
    const run = await toolRunner(server, 'mongodb_atlas', {}, ran);
    const stored = storeOf(atlas, `Bearer ${TOKEN}`, '/api/atlas/v2/groups');
    const projects = await run('list_projects');
    expect(projects).to.have.length((await stored('')).totalCount);
    const { id: group_id, clusterCount } = projects.find(({ name }: { name: string }) => name === 'Shop');
    expect(clusterCount).to.equal(1);
    const cluster = await stored(`/${group_id}/clusters/Orders`);
    const expected = { id: cluster.id, name: 'Orders', stateName: 'IDLE', mongoDBVersion: '8.0' };
    const listed = await run('list_clusters', { group_id });
    expect(listed).to.have.length(1);
    expect(listed[0]).to.include(expected);
    const { connectionStrings, ...shown } = await run('get_cluster', { group_id, cluster: 'Orders' });
    expect(shown).to.include(expected);
    expect(connectionStrings).to.deep.equal({ standardSrv: cluster.connectionStrings.standardSrv });
    const { results } = await stored(`/${group_id}/databaseUsers`);
    const users = await run('list_database_users', { group_id });
    expect(users.map(({ username }: { username: string }) => username)).to.deep.equal(['reports']);
    expect(users[0].databaseName).to.equal(results[0].databaseName);
    expectAllRun('mongodb_atlas', ran, { pause_cluster: 'The emulator accepts it and stores nothing.' });
  });

  it('work in Microsoft 365, Outlook and Teams, for the user', async () => {
    const { id } = await storeOf(microsoft, `Bearer ${TOKEN}`)('/v1.0/me');
    const tools = { microsoft_365: 'get_my_profile', microsoft_teams: 'get_me', outlook: 'get_current_user' };
    for (const [connector, tool] of Object.entries(tools)) {
      await expectRefusal(server, connector, withToken(UNKNOWN), tool);
      const ran = new Set<string>();
      const run = await toolRunner(server, connector, withToken(TOKEN), ran);
      expect(await run(tool)).to.include({ id, displayName: 'Ada Lovelace', userPrincipalName: 'ada@example.com' });
      expectAllRun(connector, ran);
    }
  });
});
