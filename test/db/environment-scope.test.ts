import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import ts from 'typescript';
import type { EnvironmentId, Repositories } from '../../db/store.ts';
import {
  account,
  addConnection,
  addEnvironment,
  addKeyChecks,
  authFlow,
  authRequest,
  connection,
  customProvider,
  digest,
  failure,
  github,
  grant,
  job,
  laneOf,
  loginProvider,
  NOW,
  oauthClient,
  oauthGrant,
  oauthLogin,
  openTestStore,
  operatorSession,
  PIECE,
  portalSession,
  storedContent,
  tool,
  toolOverlay,
  webhookEndpoint,
} from './support.ts';

async function firstChain({ audit }: Pick<Repositories, 'audit'>, env: EnvironmentId) {
  const chains = await audit.chains(env);
  return chains.find(({ head }) => head) ?? { start: 0, limit: Number.MAX_SAFE_INTEGER, head: undefined };
}

async function unarchived(repositories: Pick<Repositories, 'audit'>, env: EnvironmentId, limit: number) {
  return await repositories.audit.unarchived(env, await firstChain(repositories, env), 0, limit);
}

/**
 * Functions without an environment parameter: those of environments themselves, and those of data of the deployment.
 */
const WITHOUT_ENVIRONMENT = [
  'AccountReads.countByStatus',
  'DeploymentSecretReads.get',
  'DeploymentSecretReads.keyChecks',
  'DeploymentSecretReads.list',
  'DeploymentSecretWrites.deleteKeyCheck',
  'DeploymentSecretWrites.insertIfAbsent',
  'DeploymentSecretWrites.insertKeyCheckIfAbsent',
  'DeploymentSecretWrites.replace',
  'EnvironmentReads.byHost',
  'EnvironmentReads.get',
  'EnvironmentReads.list',
  'EnvironmentWrites.insert',
  'EnvironmentWrites.setBaseUrl',
  'EnvironmentWrites.setSettings',
  'InstanceReads.claimedKeys',
  'InstanceReads.isRegistered',
  'InstanceReads.list',
  'InstanceReads.unfinished',
  'InstanceWrites.beat',
  'InstanceWrites.register',
  'InstanceWrites.remove',
  'InstanceWrites.removeOthers',
  'InstanceWrites.removeSilent',
  'JobQueueReads.abandoned',
  'JobQueueReads.nextLane',
  'JobQueueReads.owned',
  'JobQueueReads.tally',
  'JobQueueWrites.again',
  'JobQueueWrites.claim',
  'JobQueueWrites.done',
  'JobQueueWrites.fail',
  'KeyRotationReads.countByKek',
  'KeyRotationReads.listByKek',
  'KeyRotationReads.listWaiting',
  'KeyRotationWrites.setWrappedKey',
  'PeriodicJobReads.list',
  'PeriodicJobWrites.add',
  'PeriodicJobWrites.hasten',
  'PeriodicJobWrites.release',
  'PeriodicJobWrites.take',
];

const FOLDER = fileURLToPath(new URL('../../db', import.meta.url));

/** Returns every method of the interfaces `…Reads` and `…Writes` of db/, with the text of its first parameter. */
function methods(): { name: string; first: string }[] {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(join(FOLDER, file), 'utf8'), ts.ScriptTarget.Latest, true);
    return source.statements
      .filter(ts.isInterfaceDeclaration)
      .filter(({ name }) => /(Reads|Writes)$/.test(name.text))
      .flatMap(({ name, members }) =>
        members.map((member) => ({
          name: `${name.text}.${member.name?.getText()}`,
          first: ts.isMethodSignature(member) ? (member.parameters[0]?.getText() ?? '') : member.getText(),
        })),
      );
  });
}

describe('queries are limited to one environment (C1)', () => {
  it('every repository function except the listed ones takes the environment first', () => {
    const without = methods().filter(({ first }) => first !== 'environmentId: EnvironmentId');
    expect(without.map(({ name }) => name).sort()).to.deep.equal(WITHOUT_ENVIRONMENT);
  });

  it('the list declares every function of the repositories', async () => {
    const test = await openTestStore();
    const declared = new Set(methods().map(({ name }) => name.replace(/(Reads|Writes)\./, '.')));
    const interfaces: Record<keyof Repositories, string> = {
      environments: 'Environment',
      environmentLogos: 'EnvironmentLogo',
      apiClients: 'ApiClient',
      loginProviders: 'LoginProvider',
      oauthClients: 'OAuthClient',
      oauthLogins: 'OAuthLogin',
      portalSessions: 'PortalSession',
      oauthGrants: 'OAuthGrant',
      operatorSessions: 'OperatorSession',
      customProviders: 'CustomProvider',
      environmentTools: 'EnvironmentTool',
      toolOverlays: 'ToolOverlay',
      connections: 'Connection',
      accounts: 'Account',
      refreshLeases: 'RefreshLease',
      refreshStatistics: 'RefreshStatistic',
      authRequests: 'AuthRequest',
      authFlows: 'AuthFlow',
      jobs: 'Job',
      jobQueue: 'JobQueue',
      periodicJobs: 'PeriodicJob',
      executions: 'Execution',
      executionStatistics: 'ExecutionStatistic',
      storedContents: 'StoredContent',
      idempotencyKeys: 'IdempotencyKey',
      audit: 'Audit',
      deploymentSecrets: 'DeploymentSecret',
      instances: 'Instance',
      keyRotation: 'KeyRotation',
      mcpConfigs: 'McpConfig',
      catalogueDigests: 'CatalogueDigest',
      events: 'Event',
      webhookEndpoints: 'WebhookEndpoint',
      webhookDeliveries: 'WebhookDelivery',
    };
    expect(Object.keys(test.store.read).sort()).to.deep.equal(Object.keys(interfaces).sort());
    for (const [name, repository] of Object.entries(test.store.read)) {
      for (const method of Object.keys(repository)) {
        expect(declared.has(`${interfaces[name as keyof Repositories]}.${method}`), `${name}.${method}`).to.equal(true);
      }
    }
    await test.end();
  });

  describe('with rows of another environment', () => {
    const page = { size: 10 };
    const empty = { rows: [], hasNext: false, hasPrevious: false, total: 0, totalIsExact: true };
    type Call = (r: Repositories, env: EnvironmentId, ids: Ids) => Promise<unknown>;
    interface Ids {
      account: string;
      connection: string;
      execution: string;
    }
    const keyName = { clientId: 'cli_1', route: 'createConnectedAccount', keyDigest: digest('key') };
    const status = { status: 'EXPIRED' as const, reason: null, updatedAt: NOW };
    const secret = { id: 'sec_2', digest: digest('two'), prefix: 'two', createdAt: NOW };
    const FAILED = { state: 'FAILED' as const, attempts: 1, nextAttemptAt: null, lastAttempt: null, at: NOW };
    const ENDED = { endpointId: 'whk_1', afterId: '', createdFrom: 0, endedUntil: NOW, limit: 9, slice: 9 };
    const CHAIN = { start: 0, limit: Number.MAX_SAFE_INTEGER, head: undefined };
    /** One call of each function, and the result that it must have with another environment than that of the rows. */
    const calls: Record<string, [call: Call, expected: unknown]> = {
      'catalogueDigests.get': [(r, env) => r.catalogueDigests.get(env), undefined],
      'storedContents.get': [(r, env) => r.storedContents.get(env, 'file', 'file_1', NOW), undefined],
      'storedContents.describe': [(r, env) => r.storedContents.describe(env, 'file', 'file_1', NOW), undefined],
      'storedContents.total': [(r, env) => r.storedContents.total(env, 'file'), 0],
      'storedContents.sweep': [(r, env) => r.storedContents.sweep(env, NOW + 1e9, PIECE), 0],
      'storedContents.sweepStoredBefore': [
        (r, env) => r.storedContents.sweepStoredBefore(env, 'file', NOW + 1e9, PIECE),
        0,
      ],
      'apiClients.get': [(r, env) => r.apiClients.get(env, 'cli_1', NOW), undefined],
      'apiClients.state': [(r, env) => r.apiClients.state(env, 'cli_1'), undefined],
      'apiClients.list': [(r, env) => r.apiClients.list(env, page), empty],
      'apiClients.disable': [(r, env) => r.apiClients.disable(env, 'cli_1', NOW), false],
      'apiClients.rotate': [(r, env) => r.apiClients.rotate(env, 'cli_1', secret, { now: NOW, overlapMs: 0 }), false],
      'apiClients.totals': [(r, env) => r.apiClients.totals(env), { enabled: 0, disabled: 0 }],
      'apiClients.removeFirstDisabled': [(r, env) => r.apiClients.removeFirstDisabled(env), undefined],
      'customProviders.get': [(r, env) => r.customProviders.get(env, 'mine'), undefined],
      'customProviders.list': [(r, env) => r.customProviders.list(env), []],
      'customProviders.totals': [(r, env) => r.customProviders.totals(env), { count: 0, size: 0 }],
      'customProviders.update': [
        (r, env) => r.customProviders.update(env, 'mine', 1, { definition: {}, isMcp: false, updatedAt: NOW }),
        false,
      ],
      'customProviders.delete': [(r, env) => r.customProviders.delete(env, 'mine'), false],
      'environmentTools.get': [(r, env) => r.environmentTools.get(env, 'mine_get_thing'), undefined],
      'environmentTools.list': [(r, env) => r.environmentTools.list(env, { limit: 9 }), []],
      'environmentTools.entriesOf': [(r, env) => r.environmentTools.entriesOf(env, 'mine'), []],
      'environmentTools.namesWithDescription': [
        (r, env) => r.environmentTools.namesWithDescription(env, 'mine', 'x'),
        [],
      ],
      'environmentTools.listByConnector': [(r, env) => r.environmentTools.listByConnector(env, 'mine'), []],
      'environmentTools.namesOf': [(r, env) => r.environmentTools.namesOf(env, 'mine'), []],
      'environmentTools.flaggedOf': [(r, env) => r.environmentTools.flaggedOf(env, 'mine'), []],
      'environmentTools.count': [(r, env) => r.environmentTools.count(env), 0],
      'environmentTools.names': [(r, env) => r.environmentTools.names(env), []],
      'environmentTools.revision': [(r, env) => r.environmentTools.revision(env), 0],
      'environmentTools.changedAfter': [
        (r, env) => r.environmentTools.changedAfter(env, { revision: 0, name: '' }, 9),
        [],
      ],
      'environmentTools.delete': [(r, env) => r.environmentTools.delete(env, ['mine_get_thing']), 0],
      'environmentTools.deleteOfConnector': [(r, env) => r.environmentTools.deleteOfConnector(env, 'mine', 9), 0],
      'toolOverlays.get': [(r, env) => r.toolOverlays.get(env, 'mine_get_thing'), undefined],
      'toolOverlays.named': [(r, env) => r.toolOverlays.named(env, 'mine_get_thing'), []],
      'toolOverlays.list': [(r, env) => r.toolOverlays.list(env), []],
      'toolOverlays.delete': [(r, env) => r.toolOverlays.delete(env, 'mine_get_thing'), false],
      'executions.successes': [(r, env) => r.executions.successes(env, 'github'), []],
      'mcpConfigs.totals': [(r, env) => r.mcpConfigs.totals(env), { count: 0, size: 0 }],
      'mcpConfigs.get': [(r, env) => r.mcpConfigs.get(env, 'mcp_1'), undefined],
      'mcpConfigs.list': [(r, env) => r.mcpConfigs.list(env, page), empty],
      'mcpConfigs.namesWithTool': [(r, env) => r.mcpConfigs.namesWithTool(env, 'mine_get_thing'), []],
      'mcpConfigs.namesWith': [(r, env, ids) => r.mcpConfigs.namesWith(env, ids.connection), []],
      'mcpConfigs.update': [
        (r, env) =>
          r.mcpConfigs.update(env, 'mcp_1', 1, { name: 'two', description: '', mappings: [], updatedAt: NOW }),
        false,
      ],
      'mcpConfigs.delete': [(r, env) => r.mcpConfigs.delete(env, 'mcp_1'), false],
      'loginProviders.get': [(r, env) => r.loginProviders.get(env), undefined],
      'loginProviders.delete': [(r, env) => r.loginProviders.delete(env), false],
      'oauthClients.get': [(r, env) => r.oauthClients.get(env, 'ocl_1'), undefined],
      'oauthClients.list': [(r, env) => r.oauthClients.list(env, page), empty],
      'oauthClients.countFrom': [(r, env) => r.oauthClients.countFrom(env, digest('address'), 0), 0],
      'oauthClients.countRegistered': [(r, env) => r.oauthClients.countRegistered(env), 0],
      'oauthClients.countUnused': [(r, env) => r.oauthClients.countUnused(env), 0],
      'oauthClients.countUsed': [(r, env) => r.oauthClients.countUsed(env), 0],
      'oauthClients.withoutGrants': [(r, env) => r.oauthClients.withoutGrants(env, NOW + 1e9, 9), []],
      'oauthClients.delete': [(r, env) => r.oauthClients.delete(env, 'ocl_2'), false],
      'oauthClients.sweepUnused': [(r, env) => r.oauthClients.sweepUnused(env, NOW, 9), 0],
      'portalSessions.byToken': [(r, env) => r.portalSessions.byToken(env, digest('portal 1')), undefined],
      'portalSessions.open': [
        (r, env) => {
          const from = { tokenDigest: digest('portal 1'), now: NOW };
          return r.portalSessions.open(env, from, { tokenDigest: digest('next'), expiresAt: NOW + 1 });
        },
        false,
      ],
      'portalSessions.delete': [(r, env) => r.portalSessions.delete(env, 'psn_1'), false],
      'portalSessions.sweep': [(r, env) => r.portalSessions.sweep(env, NOW + 1e9, 9), 0],
      'oauthLogins.byToken': [(r, env) => r.oauthLogins.byToken(env, digest('login 1')), undefined],
      'oauthLogins.countExpiring': [(r, env) => r.oauthLogins.countExpiring(env, 0, 2 ** 50, 9), 0],
      'oauthLogins.advance': [
        (r, env) => {
          const from = { id: 'lgn_1', state: 'OPEN' as const, tokenDigest: digest('login 1'), now: NOW };
          const to = { state: 'SPENT' as const, tokenDigest: digest('next'), expiresAt: NOW + 1, subject: null };
          return r.oauthLogins.advance(env, from, { ...to, grantId: null });
        },
        false,
      ],
      'oauthLogins.delete': [(r, env) => r.oauthLogins.delete(env, 'lgn_1'), false],
      'oauthLogins.sweep': [(r, env) => r.oauthLogins.sweep(env, NOW + 1e9, 9), 0],
      'operatorSessions.get': [(r, env) => r.operatorSessions.get(env, 'ops_1'), undefined],
      'operatorSessions.byToken': [(r, env) => r.operatorSessions.byToken(env, digest('session 1')), undefined],
      'operatorSessions.countLive': [(r, env) => r.operatorSessions.countLive(env, 0, 9), 0],
      'operatorSessions.list': [(r, env) => r.operatorSessions.list(env, page), empty],
      'operatorSessions.open': [
        (r, env) => {
          const offered = { id: 'ops_1', tokenDigest: digest('session 1'), now: NOW };
          return r.operatorSessions.open(env, offered, { tokenDigest: digest('next'), expiresAt: NOW + 1 });
        },
        false,
      ],
      'operatorSessions.touch': [(r, env) => r.operatorSessions.touch(env, 'ops_1', NOW + 7), false],
      'operatorSessions.delete': [(r, env) => r.operatorSessions.delete(env, 'ops_1'), false],
      'operatorSessions.sweep': [(r, env) => r.operatorSessions.sweep(env, NOW + 1e9, 9), 0],
      'executionStatistics.grouped': [
        (r, env) => r.executionStatistics.grouped(env, 'hour', { fromHour: 0, beforeHour: 1e9 }),
        [],
      ],
      'executionStatistics.sweep': [(r, env) => r.executionStatistics.sweep(env, 1e9), 0],
      'refreshStatistics.grouped': [
        (r, env) => r.refreshStatistics.grouped(env, 'hour', { fromHour: 0, beforeHour: 1e9 }),
        [],
      ],
      'refreshStatistics.sweep': [(r, env) => r.refreshStatistics.sweep(env, 1e9), 0],
      'oauthGrants.get': [(r, env) => r.oauthGrants.get(env, 'grt_1'), undefined],
      'oauthGrants.list': [(r, env) => r.oauthGrants.list(env, { clientId: 'ocl_1' }, page), empty],
      'oauthGrants.some': [(r, env) => r.oauthGrants.some(env, { clientId: 'ocl_1' }, 9), []],
      'oauthGrants.ofUser': [
        (r, env) => r.oauthGrants.ofUser(env, { organizationId: '', userId: 'user_1', identifier: 'ada' }, 'conn_1'),
        [],
      ],
      'oauthGrants.rotate': [
        (r, env) => r.oauthGrants.rotate(env, 'grt_1', 1, { retiredAt: [NOW], usedAt: NOW, expiresAt: NOW + 1 }),
        false,
      ],
      'oauthGrants.delete': [(r, env) => r.oauthGrants.delete(env, 'grt_1'), false],
      'oauthGrants.sweep': [(r, env) => r.oauthGrants.sweep(env, NOW + 1e9, 9), 0],
      'oauthClients.touch': [(r, env) => r.oauthClients.touch(env, 'ocl_1', NOW), undefined],
      'connections.get': [(r, env, ids) => r.connections.get(env, ids.connection), undefined],
      'connections.byKeyId': [(r, env) => r.connections.byKeyId(env, 'github'), undefined],
      'connections.listByProvider': [(r, env) => r.connections.listByProvider(env, 'github'), []],
      'connections.list': [(r, env) => r.connections.list(env, { status: 'COMPLETED' }, page), empty],
      'connections.listAll': [(r, env) => r.connections.listAll(env), []],
      'connections.totals': [(r, env) => r.connections.totals(env), { count: 0, size: 0 }],
      'connections.countAccounts': [(r, env, ids) => r.connections.countAccounts(env, ids.connection), 0],
      'connections.update': [
        (r, env, ids) => r.connections.update(env, ids.connection, 1, { enabled: false, updatedAt: NOW }),
        false,
      ],
      'connections.setStatus': [(r, env, ids) => r.connections.setStatus(env, ids.connection, 'DRAFT', NOW), false],
      'connections.delete': [(r, env) => r.connections.delete(env, 'conn_free'), false],
      'refreshLeases.get': [(r, env, ids) => r.refreshLeases.get(env, ids.account), undefined],
      'refreshLeases.take': [
        (r, env, ids) =>
          r.refreshLeases.take(env, ids.account, { owner: 'me', generation: 1, expiresAt: NOW, after: 1 }),
        false,
      ],
      'refreshLeases.release': [
        (r, env, ids) =>
          r.refreshLeases.release(
            env,
            ids.account,
            { owner: 'me', fencing: 2 },
            { state: 'SETTLED', generation: 1, failures: 0, lastFailure: null, retryAt: null, versions: null },
          ),
        false,
      ],
      'authRequests.get': [(r, env) => r.authRequests.get(env, 'areq_1'), undefined],
      'authRequests.byLink': [(r, env) => r.authRequests.byLink(env, digest('link 1')), undefined],
      'authRequests.byRequest': [(r, env) => r.authRequests.byRequest(env, digest('request 2')), undefined],
      'authRequests.due': [(r, env) => r.authRequests.due(env, NOW + 1, 10), []],
      'authRequests.countPending': [(r, env, ids) => r.authRequests.countPending(env, ids.account), 0],
      'authRequests.finishedBefore': [
        (r, env, ids) =>
          r.authRequests.finishedBefore(env, { accountId: ids.account, expiresAt: NOW * 2, id: 'areq_9' }),
        [],
      ],
      'authRequests.extend': [(r, env) => r.authRequests.extend(env, 'areq_1', NOW), false],
      'authRequests.setError': [(r, env) => r.authRequests.setError(env, 'areq_2', 'access_denied'), false],
      'environmentLogos.get': [(r, env) => r.environmentLogos.get(env), undefined],
      'environmentLogos.delete': [(r, env) => r.environmentLogos.delete(env), false],
      'authRequests.countMismatch': [(r, env) => r.authRequests.countMismatch(env, 'areq_2'), false],
      'authRequests.finish': [(r, env) => r.authRequests.finish(env, 'areq_1', grant('request 1')), false],
      'authRequests.close': [(r, env, ids) => r.authRequests.close(env, ids.account, NOW), 0],
      'authRequests.end': [(r, env) => r.authRequests.end(env, 'areq_2', 'FAILED', NOW), false],
      'authRequests.purge': [(r, env) => r.authRequests.purge(env, NOW + 1, 9), 0],
      'authFlows.byState': [(r, env) => r.authFlows.byState(env, digest('state')), undefined],
      'authFlows.spend': [(r, env) => r.authFlows.spend(env, digest('state'), NOW), false],
      'authFlows.sweep': [(r, env) => r.authFlows.sweep(env, NOW + 1e9, 9), 0],
      'jobs.get': [(r, env) => r.jobs.get(env, 'job_1'), undefined],
      'jobs.listBySubject': [(r, env, ids) => r.jobs.listBySubject(env, ids.account), []],
      'jobs.page': [(r, env) => r.jobs.page(env, { kind: 'revocation' }, page), empty],
      'jobs.pageOpen': [(r, env) => r.jobs.pageOpen(env, {}, page), empty],
      'jobs.wipe': [(r, env) => r.jobs.wipe(env, NOW + 1, 1), 0],
      'jobs.retry': [(r, env) => r.jobs.retry(env, 'job_2', { runAt: NOW, giveUpAt: NOW, at: NOW }), undefined],
      'jobs.purge': [(r, env) => r.jobs.purge(env, NOW + 1, 9), 0],
      'accounts.get': [(r, env, ids) => r.accounts.get(env, ids.account), undefined],
      'accounts.shown': [(r, env, ids) => r.accounts.shown(env, ids.account), undefined],
      'accounts.byKey': [
        (r, env, ids) =>
          r.accounts.byKey(env, { connectionId: ids.connection, userId: 'user_1', identifier: 'octocat' }),
        [],
      ],
      'accounts.list': [(r, env, ids) => r.accounts.list(env, { connectionId: ids.connection }, page), empty],
      'accounts.search': [(r, env) => r.accounts.search(env, { query: 'octo' }, page), empty],
      'accounts.listByProvider': [(r, env) => r.accounts.listByProvider(env, 'github', { limit: 9 }), []],
      'accounts.listObtained': [(r, env, ids) => r.accounts.listObtained(env, ids.connection, { limit: 9 }), []],
      'accounts.listIdle': [
        (r, env) => r.accounts.listIdle(env, { provider: 'github', type: 'OAUTH', endedBy: 2 ** 50, limit: 9 }),
        [],
      ],
      'accounts.hasActiveSubject': [
        (r, env, ids) => r.accounts.hasActiveSubject(env, ids.connection, 'subject-1'),
        false,
      ],
      'accounts.tombstone': [(r, env) => r.accounts.tombstone(env, 'ca_removed'), undefined],
      'accounts.update': [(r, env, ids) => r.accounts.update(env, ids.account, 1, { updatedAt: NOW }), false],
      'accounts.setStatus': [(r, env, ids) => r.accounts.setStatus(env, ids.account, ['ACTIVE'], status), false],
      'accounts.forgetObtained': [(r, env, ids) => r.accounts.forgetObtained(env, ids.connection, {}), 0],
      'accounts.setStatusByProvider': [(r, env) => r.accounts.setStatusByProvider(env, 'github', status), 0],
      'accounts.touch': [(r, env, ids) => r.accounts.touch(env, [{ id: ids.account, lastUsedAt: NOW }]), undefined],
      'accounts.remove': [(r, env, ids) => r.accounts.remove(env, ids.account, NOW), false],
      'executions.get': [(r, env, ids) => r.executions.get(env, ids.execution), undefined],
      'executions.list': [(r, env, ids) => r.executions.list(env, { accountId: ids.account }, page), empty],
      'executions.finish': [
        (r, env, ids) => r.executions.finish(env, ids.execution, { status: 'FAILED', finishedAt: NOW }),
        false,
      ],
      'executions.sweep': [(r, env) => r.executions.sweep(env, NOW + 1, 9), 0],
      'executions.markAbandoned': [(r, env) => r.executions.markAbandoned(env, NOW), 0],
      'idempotencyKeys.get': [(r, env) => r.idempotencyKeys.get(env, keyName), undefined],
      'idempotencyKeys.keptBytes': [(r, env) => r.idempotencyKeys.keptBytes(env, keyName.clientId), 0],
      'idempotencyKeys.disown': [(r, env) => r.idempotencyKeys.disown(env, keyName), false],
      'idempotencyKeys.complete': [
        (r, env) => r.idempotencyKeys.complete(env, keyName, { status: 200, sealedReply: null }),
        false,
      ],
      'idempotencyKeys.release': [(r, env) => r.idempotencyKeys.release(env, keyName), false],
      'refreshLeases.endAbandoned': [(r, env) => r.refreshLeases.endAbandoned(env), 0],
      'idempotencyKeys.releaseAbandoned': [(r, env) => r.idempotencyKeys.releaseAbandoned(env), 0],
      'idempotencyKeys.sweep': [(r, env) => r.idempotencyKeys.sweep(env, NOW + 1e9, PIECE), 0],
      'events.get': [(r, env) => r.events.get(env, 'evt_1'), undefined],
      'events.list': [(r, env) => r.events.list(env, {}, page), empty],
      'events.following': [(r, env) => r.events.following(env, 0, 9), []],
      'events.last': [(r, env) => r.events.last(env), 0],
      'events.sweep': [(r, env) => r.events.sweep(env, NOW + 1, 9), 0],
      'webhookEndpoints.get': [(r, env) => r.webhookEndpoints.get(env, 'whk_1'), undefined],
      'webhookEndpoints.list': [(r, env) => r.webhookEndpoints.list(env, page), empty],
      'webhookEndpoints.enabled': [(r, env) => r.webhookEndpoints.enabled(env), []],
      'webhookEndpoints.count': [(r, env) => r.webhookEndpoints.count(env), 0],
      'webhookEndpoints.update': [(r, env) => r.webhookEndpoints.update(env, 'whk_1', { enabled: false }), false],
      'webhookEndpoints.delete': [(r, env) => r.webhookEndpoints.delete(env, 'whk_1'), false],
      'webhookDeliveries.get': [(r, env) => r.webhookDeliveries.get(env, 'whd_1'), undefined],
      'webhookDeliveries.list': [(r, env) => r.webhookDeliveries.list(env, { endpointId: 'whk_1' }, page), empty],
      'webhookDeliveries.hasPending': [(r, env) => r.webhookDeliveries.hasPending(env, 'whk_1', 'ca_1'), false],
      'webhookDeliveries.nextInOrder': [(r, env) => r.webhookDeliveries.nextInOrder(env, 'whk_1', 'ca_1'), undefined],
      'webhookDeliveries.ended': [(r, env) => r.webhookDeliveries.ended(env, ENDED), { rows: [] }],
      'webhookDeliveries.assign': [
        (r, env) => r.webhookDeliveries.assign(env, 'whd_1', { jobId: 'job_9', at: NOW }),
        false,
      ],
      'webhookDeliveries.record': [(r, env) => r.webhookDeliveries.record(env, 'whd_2', 'job_1', FAILED), false],
      'webhookDeliveries.sweep': [(r, env) => r.webhookDeliveries.sweep(env, NOW + 1, 9), 0],
      'audit.list': [(r, env) => r.audit.list(env, page), empty],
      'audit.following': [async (r, env) => r.audit.following(env, CHAIN, 0, 9), []],
      'audit.verifyChain': [(r, env) => r.audit.verifyChain(env), { intact: true, rows: 0 }],
      'audit.chains': [async (r, env) => (await r.audit.chains(env)).filter(({ head }) => head), []],
      'audit.unarchived': [(r, env) => unarchived(r, env, 9), []],
      'audit.removeArchived': [(r, env) => r.audit.removeArchived(env, 9), 0],
    };
    /** These functions create rows in the given environment, so they cannot change another environment's rows. */
    const creating = [
      'accounts.insert',
      'apiClients.insert',
      'audit.append',
      'audit.markArchived',
      'authFlows.insert',
      'authRequests.insert',
      'catalogueDigests.set',
      'connections.insert',
      'customProviders.insert',
      'environmentLogos.set',
      'environmentTools.touch',
      'environmentTools.upsert',
      'events.append',
      'executions.insert',
      'executions.insertPlanned',
      'idempotencyKeys.claim',
      'idempotencyKeys.completeClaimed',
      'jobs.insert',
      'jobs.insertFailed',
      'loginProviders.replace',
      'mcpConfigs.insert',
      'oauthClients.insert',
      'oauthGrants.insert',
      'oauthLogins.insert',
      'operatorSessions.insert',
      'portalSessions.insert',
      'refreshStatistics.count',
      'storedContents.insert',
      'toolOverlays.set',
      'webhookDeliveries.insert',
      'webhookEndpoints.insert',
    ];
    /** Metrics of the whole deployment, which requests do not read. */
    const ofDeployment = ['accounts.countByStatus'];
    const unscoped = ['environments', 'instances', 'deploymentSecrets', 'keyRotation', 'jobQueue', 'periodicJobs'];

    it('repository functions find nothing and change nothing with any arguments', async () => {
      const test = await openTestStore();
      const { store, env, newId } = test;
      await addKeyChecks(store, 'kek_1');
      const foreign = await addEnvironment(store, newId, 'other.example');
      const connectionId = await github(test);
      await addConnection(store, env, connection(newId, { id: 'conn_free', keyId: 'free' }));
      const row = account(newId, connectionId, {
        identifier: 'octocat',
        providerSubject: 'subject-1',
        tokenExpiresAt: 1,
      });
      const removed = account(newId, connectionId, { id: 'ca_removed' });
      await store.write(async (tx) => {
        await tx.accounts.insert(env, { ...row, temporarySealed: Buffer.from([1]) });
        await tx.accounts.insert(env, removed);
        await tx.accounts.remove(env, removed.id, NOW);
        await tx.refreshLeases.take(env, row.id, { owner: 'one', generation: 1, expiresAt: NOW, after: 0 });
        const client = { id: 'cli_1', name: 'one', scopes: [], createdAt: NOW };
        await tx.apiClients.insert(env, client, { id: 'sec_1', digest: digest('one'), prefix: 'one', createdAt: NOW });
        await tx.customProviders.insert(env, customProvider('mine'));
        await tx.environmentTools.upsert(env, [
          tool('mine_get_thing', { definition: { description: 'x' } }),
          tool('mine_list_things', { source: 'mcp', sourceId: 'list', flagged: 'was changed' }),
        ]);
        await tx.toolOverlays.set(env, toolOverlay('mine_get_thing'));
        const config = { id: 'mcp_1', name: 'one', description: '', createdAt: NOW, updatedAt: NOW };
        await tx.mcpConfigs.insert(env, { ...config, mappings: [{ connectionId, tools: ['mine_get_thing'] }] });
        await tx.loginProviders.replace(env, loginProvider('lgp_1'));
        for (const id of ['ocl_1', 'ocl_2', 'ocl_4']) await tx.oauthClients.insert(env, oauthClient(id));
        await tx.oauthClients.touch(env, 'ocl_4', NOW);
        await tx.oauthClients.insert(env, oauthClient('ocl_3', { kind: 'REGISTERED', originDigest: null }));
        for (const id of ['lgn_1', 'lgn_2']) await tx.oauthLogins.insert(env, oauthLogin(id));
        for (const id of ['psn_1', 'psn_2']) await tx.portalSessions.insert(env, portalSession(id));
        for (const id of ['grt_1', 'grt_2']) await tx.oauthGrants.insert(env, oauthGrant(id));
        for (const id of ['ops_1', 'ops_2']) await tx.operatorSessions.insert(env, operatorSession(id));
        await tx.executions.insert(env, {
          id: 'exec_1',
          accountId: row.id,
          connector: 'github',
          toolName: 'github_list_repos',
          agentRunId: null,
          apiClientId: 'cli_1',
          instance: 0,
          startedAt: NOW,
        });
        const ended = { accountId: row.id, connector: 'github', toolName: 'x', agentRunId: null, apiClientId: 'cli_1' };
        await tx.executions.insert(env, { ...ended, id: 'exec_ended', instance: 0, startedAt: NOW });
        await tx.executions.finish(env, 'exec_ended', { status: 'SUCCEEDED', finishedAt: NOW });
        await tx.refreshStatistics.count(env, { hour: 1, connector: 'c', outcome: 'SUCCEEDED', errorKind: '' });
        await tx.catalogueDigests.set(env, { github: 'digest' });
        await tx.storedContents.insert(env, storedContent('file_1', row.id));
        await tx.environmentLogos.set(env, { mediaType: 'image/png', bytes: Buffer.from('png'), updatedAt: NOW });
        for (const id of ['areq_1', 'areq_2', 'areq_3']) {
          await tx.authRequests.insert(env, authRequest(id, row.id, connectionId));
        }
        await tx.authRequests.finish(env, 'areq_2', grant('request 2'));
        await tx.authFlows.insert(env, authFlow('areq_3', connectionId));
        for (const id of ['job_1', 'job_2']) await tx.jobs.insert(env, job(id, row.id));
        await tx.jobQueue.claim({ ...laneOf(env), owner: 1, now: NOW, limit: 2 });
        const failed = { at: NOW, reason: 'Refused.' };
        for (const id of ['job_1', 'job_2']) await tx.jobQueue.fail({ id, attempts: 1, owner: 1 }, failed);
        const times = { requestDigest: digest('body'), instance: 0, createdAt: NOW, expiresAt: NOW + 1000 };
        await tx.idempotencyKeys.claim(env, { ...keyName, ...times });
        const done = { ...keyName, keyDigest: digest('key that is done') };
        await tx.idempotencyKeys.claim(env, { ...done, ...times });
        await tx.idempotencyKeys.complete(env, done, { status: 200, sealedReply: Buffer.from('sealed') });
        const event = { type: 'tool.created', subjectId: 'ca_1', body: '{}', createdAt: NOW };
        const eventSeq = await tx.events.append(env, { ...event, id: 'evt_1' });
        await tx.webhookEndpoints.insert(env, webhookEndpoint('whk_1'));
        const delivery = { endpointId: 'whk_1', eventId: 'evt_1', eventSeq, eventType: event.type, subjectId: 'ca_1' };
        for (const [id, jobId] of Object.entries({ whd_1: null, whd_2: 'job_1', whd_3: 'job_1' })) {
          await tx.webhookDeliveries.insert(env, { ...delivery, id, jobId, nextAttemptAt: NOW, createdAt: NOW });
        }
        await tx.webhookDeliveries.record(env, 'whd_3', 'job_1', FAILED);
        const entry = {
          at: NOW,
          actor: 'cli_1',
          action: 'connected_account.created',
          subjectId: null,
          requestId: null,
        };
        for (const id of ['aud_1', 'aud_2', 'aud_3']) await tx.audit.append(env, { ...entry, id });
        const [, second] = await unarchived(tx, env, 2);
        await tx.audit.markArchived(env, await firstChain(tx, env), second?.seq ?? 0);
        await tx.audit.removeArchived(env, 1);
      });
      const ids = { account: row.id, connection: connectionId, execution: 'exec_1' };
      // Free slots of data keys are not compared, because a unit may leave a slot that it has not used.
      const dump = () => {
        const { data_keys: keys = [], ...rest } = test.database.dump();
        return { ...rest, keys: keys.filter((row) => String((row as { used: unknown }).used) === '1') };
      };
      const before = dump();

      const all = Object.entries(store.read)
        .filter(([name]) => !unscoped.includes(name))
        .flatMap(([name, repository]) => Object.keys(repository).map((method) => `${name}.${method}`));
      expect([...Object.keys(calls), ...creating, ...ofDeployment].sort()).to.deep.equal(all.sort());

      for (const [name, [call, expected]] of Object.entries(calls)) {
        expect(await store.write((tx) => call(tx, foreign, ids)), name).to.deep.equal(expected);
      }
      expect(dump()).to.deep.equal(before);

      // The negative control: with their own environment the same calls do find and change the rows.
      for (const [name, [call, expected]] of Object.entries(calls)) {
        if (name === 'accounts.touch' || name === 'oauthClients.touch') continue;
        const own = await store.write((tx) => call(tx, env, ids));
        if (!CONSUMED.includes(name)) expect(own, name).not.to.deep.equal(expected);
      }
      expect(test.database.dump()).not.to.deep.equal(before);
      await test.end();
    });

    it('an account cannot belong to a connection of another environment', async () => {
      const test = await openTestStore();
      const foreign = await addEnvironment(test.store, test.newId, 'other.example');
      const row = account(test.newId, await github(test));
      const error = await failure(test.store.write((tx) => tx.accounts.insert(foreign, row)));
      expect(error.name).to.equal('RelationError');
      await test.end();
    });

    /** Calls that cannot succeed because an earlier call has used up what they need, in the order of the calls. */
    const CONSUMED = [
      'storedContents.sweepStoredBefore',
      'accounts.setStatusByProvider',
      'executions.markAbandoned',
      'idempotencyKeys.release',
      'idempotencyKeys.releaseAbandoned',
      'refreshLeases.endAbandoned',
    ];
  });
});
