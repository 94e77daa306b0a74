import type { Overrides } from '../../wiring/overrides.ts';
import { ORDERED_ONLY } from './revocations.ts';

/** Options of a server without background work, for tests that count what requests do or make it fail. */
export const NO_BACKGROUND = {
  jobs: ORDERED_ONLY,
  startTimer: () => ({ soon: () => {}, stop: async () => {} }),
} satisfies Overrides;
