import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepAnswers, missingPairs } from './coverage.ts';

/** Where the processes of a run leave what their servers have answered; absent in a run of single files. */
const FOLDER = 'VALETKEY_ANSWERS_FOLDER';

/** Once, before any process of tests begins. */
export function mochaGlobalSetup(): void {
  if (process.env['VALETKEY_FULL_SUITE'] === '1')
    process.env[FOLDER] = mkdtempSync(join(tmpdir(), 'valetkey-answers-'));
}

/** In each process, after each of its files. */
export const mochaHooks = {
  afterAll(): void {
    const folder = process.env[FOLDER];
    if (folder) keepAnswers(folder);
  },
};

/** After the whole suite: a status that the contract promises and no test has seen is a promise that nobody keeps. */
export function mochaGlobalTeardown(): void {
  const folder = process.env[FOLDER];
  if (!folder) return;
  const missing = missingPairs(folder);
  rmSync(folder, { recursive: true });
  if (missing.length === 0) return;
  console.error(`declared, never answered in this run:\n  ${missing.join('\n  ')}`);
  process.exit(1);
}
