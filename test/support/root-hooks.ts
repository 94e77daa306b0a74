import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Context } from 'mocha';
import { missingPairs, saveResponses } from './coverage.ts';
import { beginFile, endFile, slowestFiles } from './file-times.ts';

/**
 * The folder in which the processes of a run record the responses of their servers; not set in a run of single files.
 */
const FOLDER = 'VALETKEY_ANSWERS_FOLDER';
/** The file to which the time of each test file is appended. */
const TIMES = 'TEST_TIMES';
const SLOWEST = 15;

// Otherwise fast-check reports the error of a failed property as its `cause`, which reports of parallel runs omit.
fc.configureGlobal({ includeErrorInReport: true });

/** Runs once, before any process of tests starts. */
export function mochaGlobalSetup(): void {
  if (process.env['VALETKEY_FULL_SUITE'] === '1')
    process.env[FOLDER] = mkdtempSync(join(tmpdir(), 'valetkey-answers-'));
  const times = process.env[TIMES];
  if (times) rmSync(times, { force: true });
}

/** Runs in each process, before and after each of its files. */
export const mochaHooks = {
  beforeAll(): void {
    beginFile();
  },
  afterAll(this: Context): void {
    const folder = process.env[FOLDER];
    if (folder) saveResponses(folder);
    const times = process.env[TIMES];
    if (times) endFile(this.test?.parent?.suites[0]?.file, times);
  },
};

/** Runs after the whole suite: fails if the contract declares a status or an event that no test has produced. */
export function mochaGlobalTeardown(): void {
  const times = process.env[TIMES];
  if (times) console.log(`the slowest files:\n${slowestFiles(times, SLOWEST).join('\n')}`);
  const folder = process.env[FOLDER];
  if (!folder) return;
  const missing = missingPairs(folder);
  rmSync(folder, { recursive: true });
  if (missing.length === 0) return;
  console.error(`declared, never produced in this run:\n  ${missing.join('\n  ')}`);
  process.exit(1);
}
