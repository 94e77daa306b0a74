import { missingPairs } from './coverage.ts';

/** After the whole suite: a status that the contract promises and no test has seen is a promise that nobody keeps. */
export const mochaHooks = {
  afterAll(): void {
    if (process.env['VALETKEY_FULL_SUITE'] !== '1') return;
    const missing = missingPairs();
    if (missing.length > 0) throw new Error(`declared, never answered in this run:\n  ${missing.join('\n  ')}`);
  },
};
