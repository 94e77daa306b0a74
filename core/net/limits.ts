import { OUTBOUND } from '../budgets.ts';

/** Every bound of outbound calls; core/budgets.ts says what each is for. */
export type EgressLimits = Record<keyof typeof OUTBOUND, number>;

export const DEFAULT_LIMITS: Readonly<EgressLimits> = OUTBOUND;
