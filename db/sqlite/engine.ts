import type { Engine } from '../engine.ts';
import { makeBackup } from './backup/make-backup.ts';
import { readBackup } from './backup/read.ts';
import { lockTarget } from './backup/restore.ts';
import { missingFromBackup, verifyBackup } from './backup/verify.ts';
import { missingData } from './complete.ts';
import { openCopySource, reopenDatabase } from './copy/source.ts';
import { openCopyTarget } from './copy/target.ts';
import { holdInstanceLock } from './instance-lock.ts';
import { removeMark } from './mark-file.ts';
import { openSqliteStore } from './store.ts';

/** The SQLite engine: a single file, which only one server can use at a time. */
export const sqliteEngine: Engine = {
  open: ({ location, ...options }) => openSqliteStore({ path: location, ...options }),
  hold: holdInstanceLock,
  // No lock is needed here: `work` opens the database after `hold`, which only one process can have.
  withSetupLock: (_location, work) => work(),
  migrate: null,
  check: null,
  copySource: openCopySource,
  copyTarget: openCopyTarget,
  reopen: async (location) => reopenDatabase(location),
  isShared: false,
  files: { makeBackup, verifyBackup, readBackup, lockTarget, missingFromBackup, missingData, acceptLoss: removeMark },
};
