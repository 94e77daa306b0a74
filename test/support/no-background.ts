import type { Overrides } from '../../wiring/overrides.ts';
import { ORDERED_ONLY } from './revocations.ts';

/** A server that does nothing by itself, for tests that count what requests do or make it fail. */
export const NO_BACKGROUND = {
  jobs: ORDERED_ONLY,
  startTimer: () => ({ soon: () => {}, stop: async () => {} }),
} satisfies Overrides;
