import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccountChanges } from '../core/accounts/account-changes.ts';
import { expireRequests } from '../core/accounts/links/expire.ts';
import { UsageTracker } from '../core/accounts/usage.ts';
import { ByteBudget } from '../core/budgets/byte-budget.ts';
import { BACKGROUND, BODIES, INSTANCE, JOBS, STORAGE } from '../core/budgets.ts';
import { adaptToUpgrade } from '../core/connections/catalogue-change.ts';
import { createCatalogue } from '../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import { createExecutionContents } from '../core/contents/execution-contents.ts';
import { createStoredFiles } from '../core/contents/stored-files.ts';
import { createToolDirectory } from '../core/discovery/directory.ts';
import { createAccountSink } from '../core/events/account-sink.ts';
import { createAuditSink } from '../core/events/audit-sink.ts';
import { createEvents } from '../core/events/events.ts';
import { createRenderer } from '../core/events/renderer.ts';
import type { EventSink } from '../core/events/sink.ts';
import { createResponseReader } from '../core/executions/response-reader.ts';
import { createIds } from '../core/ids.ts';
import { registerOnly } from '../core/instances/instance.ts';
import { createJobQueue } from '../core/jobs/queue.ts';
import { openDeploymentKeys } from '../core/keys/deployment.ts';
import { ensureEnvironment, ensureFirstClient } from '../core/keys/first-start.ts';
import { openKeySource } from '../core/keys/key-source.ts';
import { createRotationStore } from '../core/keys/rotation-store.ts';
import { createMessageReaders } from '../core/mcp/upstream/message-reader.ts';
import { createSyncTurns } from '../core/mcp/upstream/sync-turns.ts';
import { createDiscovery } from '../core/oauth/discovery.ts';
import { programVersion } from '../core/program-version.ts';
import { createRandom } from '../core/random.ts';
import { createAuditArchive } from '../core/retention/audit-archive.ts';
import { createRetention } from '../core/retention/retention.ts';
import { Secret } from '../core/secret.ts';
import { startTimer } from '../core/timers.ts';
import { verificationKeys } from '../core/tokens/access-token.ts';
import { signIdentityToken } from '../core/tokens/identity-token.ts';
import { VerifiedTokenCache } from '../core/tokens/verified-token-cache.ts';
import { createInputChecker } from '../core/tools/input.ts';
import { createToolJudge } from '../core/tools/judge.ts';
import { createOwnInputChecker } from '../core/tools/own-input.ts';
import { createDigester } from '../core/vault/digest.ts';
import { verifyKeyChecks } from '../core/vault/key-check.ts';
import { createSealedTokens } from '../core/vault/sealed-token.ts';
import { Vault } from '../core/vault/vault.ts';
import { makeDirectory } from '../db/directory.ts';
import type { EnvironmentRow } from '../db/store.ts';
import { engineFor, environmentId } from '../db/store.ts';
import { auditDirectory, type Config, type Secrets } from './config.ts';
import { createEnvironmentEgress } from './create-egress.ts';
import { createJobs, LINK_EXPIRY, periodicJobs } from './create-jobs.ts';
import { createLinks, judgeVerification } from './create-links.ts';
import { createRefresher } from './create-refresher.ts';
import { createScrub } from './create-scrub.ts';
import { createThreads } from './create-threads.ts';
import { startUpstreamSessions } from './create-upstream-sessions.ts';
import type { Deps } from './deps.ts';
import { createEnvironmentLookup } from './environments.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { createRequestLog } from './request-log.ts';
import { showStorage } from './storage-metrics.ts';
import { createStorageWatch } from './storage-watch.ts';

const ROOT = join(import.meta.dirname, '..');
const MAX_REPLY_CHARS = 2 ** 24;
const PROBE = new Secret('probe');

/** What tests replace: the clock, randomness, the log, or a whole part. */
export type DepsOverrides = Partial<Deps> & {
  /** Replaces the store by one around it, which everything is built upon. */
  wrapStore?: (store: Store) => Store;
  /** More sinks of events, after those of the server. */
  eventSinks?: readonly EventSink[];
};

/** What a first start has made, to be shown to the operator once. */
export interface FirstStart {
  keyFile: string | null;
  client: { id: string; secret: Secret } | null;
  environment: EnvironmentRow;
}

/**
 * Wires the server: opens the storage, the keys and the deployment's secrets, and makes what a first start lacks.
 *
 * @throws ConfigError, VaultError, StorageError with a message for the operator; nothing is left open then
 */
export async function createDeps(
  config: Config,
  secrets: Secrets,
  overrides: DepsOverrides = {},
): Promise<{ deps: Deps; firstStart: FirstStart }> {
  const now = overrides.now ?? Date.now;
  const random = overrides.random ?? createRandom(randomBytes);
  const newId = overrides.newId ?? createIds(now, random);
  const { log, end: endLog } = overrides.log ? { log: overrides.log, end: async () => {} } : createLog(config.logLevel);
  const bodies = overrides.bodies ?? new ByteBudget(BODIES);
  const egress = createEnvironmentEgress(config, bodies);
  const metrics = overrides.metrics ?? createMetrics();
  const storageWatch = createStorageWatch({ log, metrics });
  const engine = await engineFor(config.databaseFile);
  const hold = await engine.hold(config.databaseFile, {
    onWait: () => log.warn('another server uses the database: waiting for it to end'),
  });
  const opened = await engine.open({ location: config.databaseFile, now, watch: storageWatch }).catch(unlocked);
  const store = overrides.wrapStore?.(opened) ?? opened;
  try {
    const environments = await store.read.environments.list();
    const isProduction = environments.some((environment) => environment.kind === 'PRODUCTION');
    const mayCreate = !isProduction && (await isUnused(store));
    if (mayCreate) makeDirectory(dirname(config.keysFile));
    const keys = openKeySource(
      { keys: secrets.keys, keysFile: config.keysFile, mayCreate },
      { now, random },
      (reload) => log.info({ outcome: reload.outcome }, 'key file changed'),
    );
    await verifyKeyChecks(keys.source.current(), createRotationStore(store), now());
    const vault = overrides.vault ?? new Vault(keys.source, random);
    const deployment = await openDeploymentKeys(store, vault, { now, random });
    const digester = createDigester(deployment.digest);
    const environment = await ensureEnvironment(store, { now, newId }, config.baseUrl);
    const client = await ensureFirstClient(store, { now, random, newId, digester }, environment, secrets.firstClient);

    const tokens = new VerifiedTokenCache();
    const verifiers = verificationKeys(deployment.signing);
    const tracker = new UsageTracker((id, times) => store.write((tx) => tx.accounts.touch(environmentId(id), times)));
    const wait = (ms: number) => sleep(ms);
    const scrub = createScrub({ store, now, wait, log });
    const instance = await registerOnly({ store, now, newId, version: programVersion() });
    await judgeVerification(store, log);
    const accountChanges = createAccountChanges();
    const threads = overrides.threads ?? createThreads();
    const messageReaders = createMessageReaders(threads.responses);
    const upstreamSessions = startUpstreamSessions({ now, wait: overrides.wait ?? wait, messageReaders, log });
    const syncTurns = createSyncTurns();
    const egressOf = overrides.egressOf ?? egress.of;
    const jobQueue = createJobQueue({ vault, now, newId });
    const scrubStorage = scrub.request;
    const catalogue = overrides.catalogue ?? createCatalogue(readCatalogueIndex(readGenerated('catalogue.json')));
    const accountSink = createAccountSink((id) => {
      accountChanges.changed(id);
      upstreamSessions.forget(id);
    });
    const sinks = [createAuditSink(newId), accountSink, ...(overrides.eventSinks ?? [])];
    const events = createEvents({ now, newId, renderer: createRenderer({ catalogue }), sinks });
    await adaptToUpgrade({ store, vault, catalogue, now, events, log, jobQueue });
    const signIdentity = (claims: object) => signIdentityToken(deployment.signing.current, claims);
    const parts = {
      store,
      vault,
      catalogue,
      now,
      random,
      newId,
      events,
      log,
      egressOf,
      jobQueue,
      scrubStorage,
      discovery: createDiscovery(now),
    };
    const refresher = createRefresher({ ...parts, owner: instance.id, signIdentity });
    const links = createLinks(parts);
    const archiveAudit = createAuditArchive({ store, events, directory: auditDirectory(config), now, wait });
    const retention = createRetention({ store, now, wait, log, archiveAudit });
    const periodic = periodicJobs({
      ...parts,
      ...refresher,
      refresher,
      retention,
      upstreamSessions,
      syncTurns,
      threads,
    });
    const jobs = overrides.jobs ?? createJobs({ ...parts, instance, metrics }, periodic);
    jobs.start();
    const flushing = startTimer(() => tracker.flush(), { everyMs: BACKGROUND.usageMs, failed: usageNotWritten });
    const beating = startTimer(() => store.note((tx) => tx.instances.beat(instance.number, now())), {
      everyMs: INSTANCE.beatEveryMs,
      failed: instanceNotWritten,
    });
    const probing = startTimer(store.probe, {
      everyMs: STORAGE.probeEveryMs,
      failed: (err) => log.error({ err }, 'the storage could not be probed'),
    });
    const sealedTokens = createSealedTokens(deployment.sealing, now, random);
    showStorage({ metrics, store, scrub });
    const logRequest = createRequestLog(log, now);
    metrics.gauge('valetkey_body_bytes', 'Bytes of bodies that are held in memory', () => bodies.used);

    const deps: Deps = {
      config,
      now,
      random,
      wait,
      newId,
      instance,
      log,
      metrics,
      store,
      vault,
      catalogue,
      bodies,
      toolDirectory: createToolDirectory(catalogue),
      threads,
      responses: createResponseReader(threads.responses, now),
      toolInputs: createInputChecker(),
      executionContents: createExecutionContents({ store, vault, now }),
      ownInputs: createOwnInputChecker(threads.short),
      files: createStoredFiles({ store, vault, tokens: sealedTokens, newId, now }),
      toolJudge: createToolJudge(threads.short, new URL('../catalogue/', import.meta.url)),
      events,
      accountChanges,
      upstreamSessions,
      syncTurns,
      secretPaths: JSON.parse(readGenerated('secret-paths.json')) as string[],
      sealedTokens,
      sealedReplies: createSealedTokens(deployment.sealing, now, random, MAX_REPLY_CHARS),
      digester,
      signingKeys: deployment.signing,
      usage: {
        touch: (account) => tracker.touch(account.environmentId, account.id, now()),
        lastUsedAt: (account) => tracker.lastUsedAt(account.environmentId, account.id, account.lastUsedAt),
      },
      verifyToken: (token, { baseUrl }) =>
        tokens.verify(token, verifiers, { issuer: baseUrl, audience: baseUrl }, now()),
      environmentOf: createEnvironmentLookup(store.read, now),
      egressOf,
      authorization: links.authorization,
      readyForConsent: links.readyForConsent,
      links: {
        expire: () => expireRequests(parts),
        expireSoon: () => jobs.soon(LINK_EXPIRY),
      },
      jobQueue,
      jobs,
      freshen: refresher.freshen,
      ensureFresh: refresher.ensureFresh,
      refreshNow: refresher.refreshNow,
      scrubStorage,
      isStorageFailing: storageWatch.isFailing,
      readiness: async () => ({ database: await store.healthy(), keys: canSeal(vault) }),
      onAnswer: (exchange, status) => {
        const ms = performance.now() - exchange.startedAt;
        metrics.request(exchange.name, status, ms / 1000);
        logRequest(exchange.name, status, ms, exchange.requestId, exchange.authFailure);
      },
      async close() {
        await Promise.all([beating, probing, flushing].map((timer) => timer.stop(JOBS.stopMs)));
        await jobs.stop();
        await upstreamSessions.close();
        await refresher.idle();
        await tracker.flush().catch(usageNotWritten);
        await scrub.stop();
        await egress.close();
        await Promise.all(Object.values(threads).map((pool) => pool.close()));
        await store.write((tx) => tx.instances.remove(instance.number)).catch(instanceNotWritten);
        await store.close();
        await hold.release();
        await endLog();
      },
      ...overrides,
    };
    return { deps, firstStart: { keyFile: keys.created, client, environment } };

    function instanceNotWritten(err: unknown): void {
      log.warn({ err }, 'the heartbeat of this instance was not written');
    }

    function usageNotWritten(err: unknown): void {
      log.warn({ err }, 'times of use were not written');
    }
  } catch (error) {
    await store.close();
    return unlocked(error);
  }

  async function unlocked(error: unknown): Promise<never> {
    await hold.release();
    await endLog();
    throw error;
  }
}

type Store = Deps['store'];

/** True while nothing has been sealed: only then may a missing key be made. */
async function isUnused(store: Store): Promise<boolean> {
  return (await store.read.deploymentSecrets.list()).length === 0;
}

function canSeal(vault: Vault): boolean {
  try {
    vault.sealValue({ table: 'readiness', environmentId: '', recordId: 'probe', field: 'probe' }, PROBE);
    return true;
  } catch {
    return false;
  }
}

function readGenerated(name: string): string {
  return readFileSync(join(ROOT, 'generated', name), 'utf8');
}
