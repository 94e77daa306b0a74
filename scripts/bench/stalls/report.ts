import type { Longest } from './prober.ts';
import { LIMITS, type Scenario } from './scenario.ts';

export interface Outcome extends Longest {
  scenario: Scenario;
  rssMiB: number;
  note: string;
  /** The server ended, or the scenario could not be run. */
  fault?: string;
}

/** Returns which limit an outcome exceeds; empty if none. */
export function verdictOf({ scenario, cpuMs, idleMs, rssMiB, fault }: Outcome): string {
  if (fault !== undefined) return fault;
  const broken: string[] = [];
  if (cpuMs > LIMITS.cpuMs) broken.push('blocks');
  if (idleMs > LIMITS.idleMs) broken.push('waits');
  if (rssMiB > LIMITS.rssMiB + (scenario.grantedMiB ?? 0)) broken.push('bloats');
  return broken.join(', ');
}

export function rowOf(outcome: Outcome): string {
  const { scenario, cpuMs, idleMs, delayMs, wallMs, rssMiB, note } = outcome;
  const granted = scenario.grantedMiB ? ` (${scenario.grantedMiB} granted)` : '';
  const cells = [
    scenario.id.padEnd(4),
    scenario.name.padEnd(62).slice(0, 62),
    ...[cpuMs, idleMs, delayMs, wallMs].map((ms) => `${ms.toFixed(0)} ms`.padStart(7)),
    `${rssMiB.toFixed(0)} MiB${granted}`.padStart(8),
    verdictOf(outcome).padEnd(14),
    note.slice(0, 80),
  ];
  return cells.join('  ').trimEnd();
}

/**
 * The columns: `delay` is `wall` without the time in which the main thread was ready but the machine busy; `cpu` and
 * `idle` are the parts of `delay`.
 */
export const HEAD = [
  'id  ',
  'input'.padEnd(62),
  ...['cpu', 'idle', 'delay', 'wall'].map((column) => column.padStart(7)),
  '     RSS',
  'verdict       ',
  'outcome',
].join('  ');
