import type { ReadRepositories } from '../../db/store.ts';
import type { ExecutionContentsStore } from '../contents/execution-contents.ts';
import type { Events } from '../events/events.ts';

/** The settings of environments. */
export interface Environments {
  store: { readonly read: ReadRepositories };
  events: Events;
  now(): number;
  executionContents: Pick<ExecutionContentsStore, 'settingsChanged'>;
}
