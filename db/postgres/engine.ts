import type { Engine } from '../engine.ts';
import { checkDatabase } from './check/check.ts';
import { openCopySource, reopenDatabase } from './copy/source.ts';
import { openCopyTarget } from './copy/target.ts';
import { migrate } from './migrate.ts';
import { withSetupLock } from './setup-lock.ts';
import { openPostgresStore } from './store.ts';

/** A database on a server, which several processes can use at the same time. */
export const postgresEngine: Engine = {
  open: openPostgresStore,
  hold: async () => ({ check() {}, release: async () => {} }),
  withSetupLock,
  migrate,
  check: checkDatabase,
  copySource: openCopySource,
  copyTarget: openCopyTarget,
  reopen: reopenDatabase,
  isShared: true,
  files: null,
};
