import type { EnvironmentRow, Store } from '../../db/store.ts';
import type { StoredFiles } from '../contents/stored-files.ts';
import type { EndDeps, StoreEndDeps } from '../executions/execution-end.ts';
import type { OwnInputDeps } from '../executions/own-input.ts';
import type { PlanDeps } from '../executions/plan.ts';
import type { RunDeps } from '../executions/run.ts';
import type { Instance } from '../instances/instance.ts';
import type { Egress } from '../net/egress.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations for tool calls, raw calls and their records. */
export interface Executions extends Lists, PlanDeps, OwnInputDeps, RunDeps, EndDeps, StoreEndDeps {
  store: Store;
  files: StoredFiles;
  /** This process; every execution records it. */
  instance: Instance;
  newId(prefix: 'exec'): string;
  egressOf(environment: EnvironmentRow): Egress;
}
