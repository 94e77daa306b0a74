import type { AccountRow, EnvironmentId, EnvironmentSettings, NewStoredContent, Store } from '../../db/store.ts';
import { LIFETIME, RELOAD, STORED } from '../budgets.ts';
import type { DryRunRequest } from '../tools/call.ts';
import { shrinkToFit } from '../tools/shrink.ts';
import type { Vault } from '../vault/vault.ts';
import { contentPlace } from './place.ts';

/** What one execution sent, with its secrets masked, and what came of it, both cut to a readable size. */
export interface ExecutionContents {
  request: DryRunRequest;
  /** The data of the result, or the provider's response to a failed call. */
  answer: unknown;
}

export interface ExecutionContentsTools {
  store: Pick<Store, 'read'>;
  vault: Vault;
  now(): number;
}

export interface ExecutionContentsStore {
  /** Lets what was believed of an environment's settings go: they were changed here. */
  settingsChanged(environmentId: EnvironmentId): void;
  /** Whether the environment keeps what its executions send and get. Believed for some seconds. */
  kept(environmentId: EnvironmentId): Promise<boolean>;
  /** Seals them, to be stored together with the outcome of the execution. They expire with its record. */
  seal(account: AccountRow, executionId: string, contents: ExecutionContents): Promise<NewStoredContent>;
  /** Undefined when they were not kept, or their time is over. */
  open(environmentId: EnvironmentId, executionId: string): Promise<ExecutionContents | undefined>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long records of executions are kept, in days. */
export function retentionDays(settings: EnvironmentSettings): number {
  return settings.executionRetentionDays ?? LIFETIME.executionsMs / DAY_MS;
}

/** The same in milliseconds. */
export function retentionMs(settings: EnvironmentSettings): number {
  return retentionDays(settings) * DAY_MS;
}

export function createExecutionContents(tools: ExecutionContentsTools): ExecutionContentsStore {
  const { store, vault, now } = tools;
  const known = new Map<string, { settings: EnvironmentSettings; until: number }>();

  async function settingsOf(environmentId: EnvironmentId): Promise<EnvironmentSettings> {
    const entry = known.get(environmentId);
    if (entry && entry.until > now()) return entry.settings;
    const settings = (await store.read.environments.get(environmentId))?.settings ?? {};
    known.set(environmentId, { settings, until: now() + RELOAD.environmentMs });
    return settings;
  }

  return {
    settingsChanged(environmentId) {
      known.delete(environmentId);
    },
    async kept(environmentId) {
      return (await settingsOf(environmentId)).keepExecutionContents === true;
    },
    async seal({ id: accountId, environmentId, organizationId, userId }, executionId, { request, answer }) {
      const shown = { request: trimmed(request), answer: trimmed(answer ?? null) };
      const bytes = Buffer.from(JSON.stringify(shown));
      const sealed = vault.sealBytes(contentPlace(environmentId, executionId), bytes);
      const createdAt = now();
      const expiresAt = createdAt + retentionMs(await settingsOf(environmentId));
      const owner = { accountId, organizationId, userId };
      return { id: executionId, kind: 'execution', ...owner, size: bytes.length, createdAt, expiresAt, ...sealed };
    },
    async open(environmentId, executionId) {
      const row = await store.read.storedContents.get(environmentId, 'execution', executionId, now());
      if (!row || row.createdAt + retentionMs(await settingsOf(environmentId)) <= now()) return undefined;
      return JSON.parse(vault.openBytes(contentPlace(environmentId, executionId), row).toString('utf8'));
    },
  };
}

function trimmed(value: unknown): unknown {
  return shrinkToFit(value, STORED.contentsPartBytes, false).value;
}
