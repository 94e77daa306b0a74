import { expect } from 'chai';
import { FileContent } from '../../core/tools/file-content.ts';
import type { JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { operationsOf, parametersOf, resolve } from '../../scripts/openapi-document.ts';
import { oauthClient, oauthGrant } from '../db/support.ts';
import { createAccount, unknownId } from '../support/accounts.ts';
import type { ContractRequest } from '../support/contract-requests.ts';
import { bodyExamples, bodyMembers, requestOf } from '../support/contract-requests.ts';
import { dumpDatabase, rowsOf } from '../support/database-file.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import type { SecondEnvironment } from '../support/second-environment.ts';
import { addSecondEnvironment, OTHER_CLIENT_ID, OTHER_CLIENT_SECRET } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { contract } from './contract.ts';

const OPERATIONS = operationsOf(contract);

/** The kinds of objects that requests can name, by the place and the name of the member. */
const NAMES: Record<string, Record<string, string>> = {
  path: {
    identifier: 'provider',
    connection_id: 'connection',
    execution_id: 'execution',
    client_id: 'client',
    job_id: 'job',
    file_token: 'file',
    config_id: 'config',
    tool_name: 'tool',
    event_id: 'event',
    endpoint_id: 'endpoint',
    delivery_id: 'delivery',
    grant_id: 'grant',
    session_id: 'session',
  },
  query: {
    id: 'account',
    connected_account_id: 'account',
    connection_id: 'connection',
    connector: 'provider',
    provider: 'provider',
    identifier: 'identifier',
    organization_id: 'organization',
    user_id: 'user',
    agent_run_id: 'run',
    query: 'identifier',
    event_id: 'event',
    endpoint_id: 'endpoint',
    subject_id: 'account',
  },
  body: {
    id: 'account',
    connected_account_id: 'account',
    connector: 'provider',
    client_id: 'client',
    server_id: 'config',
  },
};

/** Members whose name refers to another kind of object in some operations. */
const OTHER_NAMES: Record<string, string> = {
  'deleteMcpClient client_id': 'mcpClient',
  'listMcpGrants client_id': 'mcpClient',
  'listMcpGrants server_id': 'config',
  'revokeMcpGrants client_id': 'mcpClient',
  'revokeMcpGrants identifier': 'identifier',
  'revokeMcpGrants organization_id': 'organization',
  'revokeMcpGrants user_id': 'user',
};

/** Operations with the same result in all environments: most tools come from the catalogue. */
const SHARED = ['listTools'];

/** Members that are stored without being looked up. */
const GIVEN = ['createConnection client_id', 'updateConnection client_id'];

/** Whether a parameter has a fixed list of values, which refer to no object. */
const isWord = ({ schema }: JsonObject) => resolve(contract, schema)['enum'] !== undefined;

interface Place {
  operation: Operation;
  in: 'path' | 'query' | 'body';
  name: string;
  kind: string;
}

function placesOf(operation: Operation): Place[] {
  if (SHARED.includes(operation.id)) return [];
  const parameters = parametersOf(contract, operation).filter((parameter) => !isWord(parameter));
  const named = [
    ...parameters.map((parameter) => [String(parameter['in']), String(parameter['name'])] as const),
    ...Object.keys(bodyMembers(operation)).map((name) => ['body', name] as const),
  ];
  return named.flatMap(([where, name]) => {
    const kind = OTHER_NAMES[`${operation.id} ${name}`] ?? NAMES[where]?.[name];
    if (where === 'path' && kind === undefined) throw new Error(`${operation.id}: add {${name}} to NAMES`);
    if (!kind || GIVEN.includes(`${operation.id} ${name}`)) return [];
    return [{ operation, in: where as Place['in'], name, kind }];
  });
}

const PLACES = OPERATIONS.flatMap(placesOf);

function requestWith({ operation, in: where, name }: Place, value: string): ContractRequest {
  if (where !== 'body') return requestOf(operation, { [where]: { [name]: value } });
  const examples = bodyExamples(operation);
  const example = examples.find((candidate) => name in candidate) ?? examples[0];
  return requestOf(operation, { body: { ...example, [name]: value } });
}

describe('resources of another environment (C1)', () => {
  let server: TestServer;
  let other: SecondEnvironment;
  let foreign: Record<string, string>;

  /** Each id is as long as the real one of the other environment, so that lengths cannot distinguish them. */
  const unknown: Record<string, string> = {
    account: unknownId('ca'),
    connection: unknownId('conn'),
    execution: unknownId('exec'),
    job: unknownId('job'),
    provider: 'unknown-desk',
    client: 'x'.repeat(OTHER_CLIENT_ID.length),
    config: unknownId('mcp'),
    identifier: 'unknown@acme.test',
    organization: 'unknown-org',
    user: 'unknown-user',
    run: 'unknown-run',
    file: 'unknown-file',
    tool: 'unknown_desk_get',
    event: unknownId('evt'),
    endpoint: unknownId('whk'),
    delivery: unknownId('whd'),
    grant: unknownId('grt'),
    session: unknownId('ops'),
    mcpClient: unknownId('ocl'),
  };

  before(async () => {
    server = await startTestServer();
    other = await addSecondEnvironment(server);
    await createAccount(server);
    await other.call('POST', '/api/v1/custom-providers', {
      body: { display_name: 'Foreign Desk', auth_patterns: [{ type: 'API_KEY' }] },
    });
    const body = {
      connector: 'foreign-desk',
      identifier: 'foreign@acme.test',
      organization_id: 'foreign-org',
      user_id: 'foreign-user',
      connected_account: { authorization_details: { static_auth: { details: { api_key: 'foreign-key' } } } },
    };
    const { connected_account: account } = (await other.call('POST', '/api/v1/connected_accounts', { body })).body;
    const config = { name: 'Foreign desk', mappings: [{ connection_id: account.connection_id }] };
    const made = await other.call('POST', '/api/v1/mcp/configs', { body: config });
    await storeTools(server, [ownTool('foreign-desk', 'foreign_desk_get')], { environment: other.environment.id });
    const overlay = { title: 'Get foreign things' };
    await other.call('PUT', '/api/v1/tool_overlays/foreign_desk_get', { body: overlay });
    const execution = server.parts.newId('exec');
    await server.parts.store.write((tx) =>
      tx.executions.insert(other.environment.id, {
        id: execution,
        accountId: account.id,
        connector: 'foreign-desk',
        toolName: 'http_get',
        agentRunId: 'foreign-run',
        apiClientId: OTHER_CLIENT_ID,
        instance: 0,
        startedAt: server.parts.now(),
      }),
    );
    const environmentId = other.environment.id;
    const order = { environmentId, kind: 'revocation', lane: 'foreign-desk', subjectId: account.id, giveUpAfterMs: 1 };
    const job = await server.parts.store.write((tx) => server.parts.jobQueue.recordFailed(tx, order, 'Foreign.'));
    const file = new FileContent('foreign.bin', undefined, Buffer.from([1]));
    const owner = { id: account.id, organizationId: 'foreign-org', userId: 'foreign-user' };
    const kept = await server.parts.files.keep(other.environment.id, owner, file);
    const operator = { operator: 'foreign', role: 'OWNER' };
    const offered = await other.call('POST', '/api/v1/operator_sessions', { body: operator });
    const grantId = server.parts.newId('grt');
    const mcpClient = server.parts.newId('ocl');
    const user = { organizationId: 'foreign-org', userId: 'foreign-user', identifier: 'foreign@acme.test' };
    await server.parts.store.write(async (tx) => {
      await tx.oauthClients.insert(environmentId, oauthClient(mcpClient, { kind: 'REGISTERED' }));
      const granted = {
        ...user,
        clientId: mcpClient,
        serverId: made.body.config.id,
        expiresAt: Number.MAX_SAFE_INTEGER,
      };
      await tx.oauthGrants.insert(environmentId, oauthGrant(grantId, granted));
    });
    const hook = { url: 'https://app.acme.test/foreign', event_types: ['tool.deleted'] };
    const { webhook_endpoint: endpoint } = (await other.call('POST', '/api/v1/webhook_endpoints', { body: hook })).body;
    const [event, delivery] = [server.parts.newId('evt'), server.parts.newId('whd')];
    await server.parts.store.write(async (tx) => {
      const about = { type: 'tool.created', subjectId: account.id, createdAt: server.parts.now() };
      const data = {
        id: event,
        type: about.type,
        created_at: account.updated_at,
        environment_id: environmentId,
        data: {},
      };
      const eventSeq = await tx.events.append(environmentId, { ...about, id: event, body: JSON.stringify(data) });
      const { type: eventType, subjectId, createdAt } = about;
      const row = { id: delivery, endpointId: endpoint.id, eventId: event, eventSeq, eventType, subjectId, createdAt };
      await tx.webhookDeliveries.insert(environmentId, { ...row, jobId: null, nextAttemptAt: null });
    });
    foreign = {
      event,
      endpoint: endpoint.id,
      delivery,
      grant: grantId,
      session: offered.body.operator_session.id,
      mcpClient,
      tool: 'foreign_desk_get',
      file: kept?.url.split('/').at(-1) as string,
      account: account.id,
      connection: account.connection_id,
      execution,
      job,
      provider: 'foreign-desk',
      client: OTHER_CLIENT_ID,
      config: made.body.config.id,
      identifier: 'foreign@acme.test',
      organization: 'foreign-org',
      user: 'foreign-user',
      run: 'foreign-run',
    };
  });
  after(() => server.stop());

  /**
   * Returns status, headers and body byte for byte, with the requested name replaced, because some messages repeat it.
   */
  async function answerTo({ method, path, request }: ContractRequest, value: string) {
    const headers = { ...request.headers, 'x-request-id': 'same' };
    const answer = await server.call(method, path, { ...request, headers });
    const { date: _date, ...rest } = answer.headers;
    // Names of tools repeat the name of a provider in other characters.
    const text = answer.text.replaceAll(value, 'NAME').replaceAll(value.replaceAll('-', '_'), 'NAME');
    return { status: answer.status, headers: rest, text };
  }

  async function expectAlike(make: (values: Record<string, string>) => ContractRequest, kind: string) {
    const before = rowsOf(dumpDatabase(server), other.environment.id);
    const answer = await answerTo(make(foreign), foreign[kind] as string);
    expect(answer).to.deep.equal(await answerTo(make(unknown), unknown[kind] as string));
    expect(rowsOf(dumpDatabase(server), other.environment.id)).to.deep.equal(before);
    return answer;
  }

  it('exist in their own environment (control)', async () => {
    for (const place of PLACES.filter(({ in: where, operation }) => where === 'path' && operation.method === 'get')) {
      const { method, path } = requestWith(place, foreign[place.kind] as string);
      expect((await other.call(method, path)).status, place.operation.id).to.equal(200);
    }
    const list = await other.call('GET', '/api/v1/connected_accounts');
    expect(list.body.total_size).to.equal(1);
  });

  for (const place of PLACES) {
    it(`have the same response from ${place.operation.id} as unknown ones by ${place.in} ${place.name}, byte for byte`, async () => {
      const answer = await expectAlike((values) => requestWith(place, values[place.kind] as string), place.kind);
      // A search for tools finds only tools of the catalogue. The comparison shows that nothing of the owner appears in
      // it.
      if (answer.status === 200) expect(JSON.parse(answer.text).total_size ?? 0).to.equal(0);
      else expect(answer.status).to.be.oneOf([400, 401, 404]);
    });
  }

  const NAMING = OPERATIONS.filter(({ definition }) =>
    ['getConnectedAccountAuth', 'getConnectedAccountDetails', 'updateConnectedAccount'].includes(
      String(definition['operationId']),
    ),
  );
  for (const operation of NAMING) {
    it(`are unknown to ${operation.id} by owner, connector and identifier`, async () => {
      const answer = await expectAlike((values) => {
        const key = {
          connector: 'github',
          identifier: values['identifier'] as string,
          user_id: values['user'] as string,
        };
        if (operation.method !== 'get') return requestOf(operation, { body: { ...key, connected_account: {} } });
        return { method: 'GET', path: `${operation.path}?${new URLSearchParams(key)}`, request: {} };
      }, 'identifier');
      expect(answer.status).to.equal(404);
    });
  }

  it('cannot be used with the valid secret of a client of another environment', async () => {
    const tokenFor = (id: string) => {
      const form = { grant_type: 'client_credentials', client_id: id, client_secret: OTHER_CLIENT_SECRET };
      return {
        method: 'POST',
        path: '/oauth/token',
        request: {
          body: new URLSearchParams(form).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          token: null,
        },
      };
    };
    const { path, request } = tokenFor(OTHER_CLIENT_ID);
    expect((await other.call('POST', path, request)).status).to.equal(200);
    expect((await expectAlike(({ client = '' }) => tokenFor(client), 'client')).status).to.equal(401);
  });

  it('do not appear in lists', async () => {
    for (const operation of OPERATIONS.filter(({ id }) => id.startsWith('list'))) {
      const { path } = requestOf(operation);
      const { text } = await server.call('GET', path);
      for (const value of Object.values(foreign)) expect(text, operation.id).not.to.include(value);
    }
  });

  it('may have the same names in two environments', async () => {
    const provider = { display_name: 'Foreign Desk', auth_patterns: [{ type: 'API_KEY' }] };
    const created = await server.call('POST', '/api/v1/custom-providers', { body: provider });
    expect(created.body.provider.identifier).to.equal('foreign-desk');
    const owner = { userId: 'foreign-user', identifier: 'foreign@acme.test', connector: 'foreign-desk' };
    const connectedAccount = { authorization_details: { static_auth: { details: { api_key: 'own-key' } } } };
    const account = await createAccount(server, { ...owner, connectedAccount });
    expect(account.id).not.to.equal(foreign['account']);
    const query = new URLSearchParams({
      user_id: 'foreign-user',
      connector: 'foreign-desk',
      identifier: 'foreign@acme.test',
    });
    const own = await server.call('GET', `/api/v1/connected_accounts/auth?${query}`);
    expect(own.body.connected_account).to.include({ id: account.id });
    expect(own.text).not.to.include('foreign-key');
    const theirs = await other.call('GET', `/api/v1/connected_accounts/auth?${query}`);
    expect(theirs.body.connected_account).to.include({ id: foreign['account'] });
    expect(theirs.text).not.to.include('own-key');
  });
});
