import { createAuditLogSlots } from '../core/audit/audit-log-slots.ts';
import { type ServerSettingsDeps, serverSettingsFor } from '../core/environments/server-settings.ts';
import type { Capabilities } from '../handlers/index.ts';
import type { Parts } from './parts.ts';

/** The parts that the handlers of each group of operations use. A group that needs another part lists it here. */
export function createCapabilities(parts: Omit<Parts, 'capabilities' | 'close'>): Capabilities {
  const { now, random, wait, newId, log, metrics, threads } = parts;
  const { store, scrubStorage, vault, digester, signingKeys, sealedTokens, sealedData } = parts;
  const { egressOf, discovery, fetchFor, upstreamSessions, syncTurns } = parts;
  const { catalogue, toolDirectory, toolInputs, ownInputs, toolValidator } = parts;
  const { events, jobQueue, jobs, links, instance } = parts;
  const { checkCredentials, usage, freshen, ensureFresh, refreshNow, responses, files, executionContents, readiness } =
    parts;
  const { deliveries, eventFeed } = parts;
  const lists = { store, sealedTokens, now };
  const revocations = { vault, catalogue, now, jobQueue };
  const refreshes = { ensureFresh, refreshNow };
  const outbound = { egressOf, upstreamSessions };
  const { keyIds, egressRules, companyLogin } = parts;
  const settings: ServerSettingsDeps = { store, keyIds, ...egressRules, consoleIssuer: companyLogin?.issuer ?? null };
  return {
    accounts: { ...lists, ...revocations, newId, events, usage, freshen, links, scrubStorage, checkCredentials },
    audit: { ...lists, logPlaces: createAuditLogSlots() },
    clients: { ...lists, digester, events, newId, random },
    connections: { ...lists, ...revocations, newId, toolDirectory, fetchFor, events },
    environments: {
      store,
      events,
      executionContents,
      now,
      serverSettings: (kind) => serverSettingsFor(settings, kind),
    },
    executions: {
      ...lists,
      ...outbound,
      ...refreshes,
      catalogue,
      toolDirectory,
      toolInputs,
      ownInputs,
      vault,
      responses,
      files,
      executionContents,
      instance,
      newId,
      random,
      wait,
      events,
      usage,
      log,
      metrics,
    },
    jobs: { ...lists, jobs, events },
    links: { ...revocations, newId, random, digester, events, scrubStorage },
    mcp: { ...lists, sealedData, catalogue, toolDirectory, newId, events },
    mcpLogins: { ...lists, sealedData, digester, vault, discovery, fetchFor, random, newId, events },
    operators: { ...lists, digester, random, newId, events, hasConsole: parts.config.console },
    portal: { digester, random, newId, events, now },
    providers: {
      ...lists,
      ...revocations,
      ...outbound,
      ...refreshes,
      syncTurns,
      toolValidator,
      threads,
      newId,
      events,
      links,
      scrubStorage,
    },
    service: { readiness, databaseState: () => store.state() },
    tokens: { store, digester, signingKeys, sealedData, newId, events, now, random },
    tools: { ...lists, catalogue, toolDirectory, toolValidator, ownInputs, events },
    webhooks: { ...lists, digester, newId, egressOf, events, jobQueue, deliveries, eventFeed },
  };
}
