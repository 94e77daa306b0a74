import type { Client } from './open.ts';

/** The changes of cached settings: the same as in the triggers of PostgreSQL (0012_settings_changed.sql). */
const CACHED = {
  environments: ['insert', 'delete', 'update of base_url, settings'],
  environment_hosts: ['insert', 'delete', 'update'],
  webhook_endpoints: ['insert', 'delete', 'update of event_types, enabled'],
};

/**
 * Counts the committed changes of settings by this process. Changes by a command in another process are not noticed.
 *
 * @param writer the connection of all writes; it gets temporary triggers
 * @param afterCommit adds an effect to the running unit
 * @returns the `settingsVersion` of the store
 */
export function createSettingsVersion(writer: Client, afterCommit: (effect: () => void) => void): () => number {
  let version = 0;
  writer.function('settings_changed', () => {
    afterCommit(() => {
      version++;
    });
    return null;
  });
  for (const [table, changes] of Object.entries(CACHED)) {
    for (const [place, change] of changes.entries()) {
      writer.exec(
        `create temp trigger ${table}_changed_${place} after ${change} on main.${table} begin select settings_changed(); end`,
      );
    }
  }
  return () => version;
}
