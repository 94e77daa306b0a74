import type { Lists } from './lists.ts';

/** The audit log. */
export type Audit = Lists;
