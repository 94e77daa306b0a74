import type { EnvironmentRow, Store } from '../../db/store.ts';
import type { EndpointOverride, HostPort } from '../net/policy-settings.ts';
import { newestStandby } from '../vault/key-lifecycle.ts';

/**
 * The security settings of the server that apply to an environment: allowed outbound addresses, the ids and states of
 * encryption keys, and the operators' issuer. Contains no key material.
 */
export interface ServerSettings {
  allowedAddresses: readonly HostPort[];
  endpointOverrides: readonly EndpointOverride[];
  /** The active key first. `createdAt`: milliseconds UTC, or null for a key that was never used. */
  keys: { id: string; state: 'ACTIVE' | 'STANDBY' | 'OLD'; createdAt: number | null }[];
  /** The issuer at which operators log in, or null. */
  consoleIssuer: string | null;
}

export interface ServerSettingsDeps {
  store: Pick<Store, 'read'>;
  /** Returns the ids of the key-encryption keys, the active one first. */
  keyIds(): string[];
  consoleIssuer: string | null;
  allowedAddresses: readonly HostPort[];
  endpointOverrides: readonly EndpointOverride[];
}

/**
 * Returns the settings of the server as they apply to environments of a kind. Allowed addresses and endpoint overrides
 * apply only to development environments.
 */
export async function serverSettingsFor(
  { store, keyIds, consoleIssuer, allowedAddresses, endpointOverrides }: ServerSettingsDeps,
  kind: EnvironmentRow['kind'],
): Promise<ServerSettings> {
  const isDevelopment = kind === 'DEVELOPMENT';
  const ids = keyIds();
  const checks = await store.read.deploymentSecrets.keyChecks();
  const standby = newestStandby(ids, checks);
  return {
    allowedAddresses: isDevelopment ? allowedAddresses : [],
    endpointOverrides: isDevelopment ? endpointOverrides : [],
    keys: ids.map((id, index) => {
      const state = index === 0 ? 'ACTIVE' : id === standby ? 'STANDBY' : 'OLD';
      return { id, state, createdAt: checks.find(({ kekId }) => kekId === id)?.createdAt ?? null };
    }),
    consoleIssuer,
  };
}
