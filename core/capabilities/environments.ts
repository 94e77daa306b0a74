import type { EnvironmentRow, ReadRepositories } from '../../db/store.ts';
import type { ExecutionContentsStore } from '../contents/execution-contents.ts';
import type { ServerSettings } from '../environments/server-settings.ts';
import type { Events } from '../events/events.ts';

/** The dependencies of the API operations on the settings of environments. */
export interface Environments {
  store: { readonly read: ReadRepositories };
  events: Events;
  now(): number;
  executionContents: Pick<ExecutionContentsStore, 'settingsChanged'>;
  /** Returns the settings of the server as they apply to environments of a kind. */
  serverSettings(kind: EnvironmentRow['kind']): Promise<ServerSettings>;
}
