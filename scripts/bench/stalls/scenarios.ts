import type { Scenario } from './scenario.ts';
import { FIRST_USES } from './scenarios/first-uses.ts';
import { RESPONSES } from './scenarios/responses.ts';

export const SCENARIOS: readonly Scenario[] = [...RESPONSES, ...FIRST_USES];
