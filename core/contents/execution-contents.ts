import type { AccountRow, EnvironmentId, EnvironmentSettings, NewStoredContent, Store } from '../../db/store.ts';
import { LIFETIME, RELOAD, STORED } from '../budgets.ts';
import type { ExecutionStep } from '../executions/steps.ts';
import type { DryRunRequest } from '../tools/call.ts';
import { shrinkToFit } from '../tools/shrink.ts';
import type { Vault } from '../vault/vault.ts';
import { contentContext } from './content-context.ts';

/**
 * The request of one execution with its secrets masked, its result and its steps. Request and result are truncated to a
 * readable size.
 */
export interface ExecutionContents {
  request: DryRunRequest;
  /** The data of the result, or the provider's response if the call failed. */
  response: unknown;
  /** The steps of the execution, oldest first. */
  steps: readonly ExecutionStep[];
}

export interface ExecutionContentsDeps {
  store: Pick<Store, 'read' | 'settingsVersion'>;
  vault: Vault;
  now(): number;
}

export interface ExecutionContentsStore {
  /** Clears the cached settings of an environment. Call it after this process changed them. */
  settingsChanged(environmentId: EnvironmentId): void;
  /**
   * Whether the environment stores the contents of its executions. The setting is cached for some seconds. If it is
   * cached, the result is not a promise.
   */
  kept(environmentId: EnvironmentId): boolean | Promise<boolean>;
  /** Encrypts contents, to be stored together with the outcome of the execution. They expire with its record. */
  seal(account: AccountRow, executionId: string, contents: ExecutionContents): Promise<NewStoredContent>;
  /** Returns the decrypted contents; undefined if they were not stored or have expired. */
  open(environmentId: EnvironmentId, executionId: string): Promise<ExecutionContents | undefined>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns for how many days execution records are kept. */
export function retentionDays(settings: EnvironmentSettings): number {
  return settings.executionRetentionDays ?? LIFETIME.executionsMs / DAY_MS;
}

/** Returns for how many milliseconds execution records are kept. */
export function retentionMs(settings: EnvironmentSettings): number {
  return retentionDays(settings) * DAY_MS;
}

export function createExecutionContents(deps: ExecutionContentsDeps): ExecutionContentsStore {
  const { store, vault, now } = deps;
  const known = new Map<string, { settings: EnvironmentSettings; version: number; until: number }>();

  function settingsOf(environmentId: EnvironmentId): EnvironmentSettings | Promise<EnvironmentSettings> {
    const entry = known.get(environmentId);
    const version = store.settingsVersion();
    return entry?.version === version && entry.until > now() ? entry.settings : readSettings(environmentId, version);
  }

  async function readSettings(environmentId: EnvironmentId, version: number): Promise<EnvironmentSettings> {
    const settings = (await store.read.environments.get(environmentId))?.settings ?? {};
    known.set(environmentId, { settings, version, until: now() + RELOAD.environmentMs });
    return settings;
  }

  return {
    settingsChanged(environmentId) {
      known.delete(environmentId);
    },
    kept(environmentId) {
      const settings = settingsOf(environmentId);
      return settings instanceof Promise ? settings.then(keepsContents) : keepsContents(settings);
    },
    async seal({ id: accountId, environmentId, organizationId, userId }, executionId, { request, response, steps }) {
      const shown = { request: trimmed(request), response: trimmed(response ?? null), steps };
      const bytes = Buffer.from(JSON.stringify(shown));
      const sealed = vault.sealBytes(contentContext(environmentId, executionId), bytes);
      const createdAt = now();
      const expiresAt = createdAt + retentionMs(await settingsOf(environmentId));
      const owner = { accountId, organizationId, userId };
      return { id: executionId, kind: 'execution', ...owner, size: bytes.length, createdAt, expiresAt, ...sealed };
    },
    async open(environmentId, executionId) {
      const row = await store.read.storedContents.get(environmentId, 'execution', executionId, now());
      if (!row || row.createdAt + retentionMs(await settingsOf(environmentId)) <= now()) return undefined;
      const bytes = vault.openBytes(contentContext(environmentId, executionId), row);
      // Version 0.1.0 stored the response under the name `answer`, and no steps.
      const { request, answer, response = answer, steps = [] } = JSON.parse(bytes.toString('utf8'));
      return { request, response, steps };
    },
  };
}

function keepsContents({ keepExecutionContents }: EnvironmentSettings): boolean {
  return keepExecutionContents === true;
}

function trimmed(value: unknown): unknown {
  return shrinkToFit(value, STORED.contentsPartBytes, false).value;
}
