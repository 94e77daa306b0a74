import { OUTBOUND } from '../budgets.ts';

/** The limits of outbound calls; core/budgets.ts describes each. */
export type EgressLimits = Record<keyof typeof OUTBOUND, number>;

export const DEFAULT_LIMITS: Readonly<EgressLimits> = OUTBOUND;
