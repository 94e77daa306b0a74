import { BARS, type Scenario } from './scenario.ts';

export interface Outcome {
  scenario: Scenario;
  wallMs: number;
  blockMs: number;
  rssMiB: number;
  note: string;
  /** The server ended, or the scenario could not be played. */
  fault?: string;
}

/** Why an outcome breaks a bar, in a word; empty when it does not. */
export function verdictOf({ scenario, blockMs, rssMiB, fault }: Outcome, noiseMs: number): string {
  if (fault !== undefined) return fault;
  const broken: string[] = [];
  if (blockMs > BARS.blockMs + noiseMs) broken.push('blocks');
  if (rssMiB > BARS.rssMiB + (scenario.grantedMiB ?? 0)) broken.push('bloats');
  return broken.join(', ');
}

export function rowOf(outcome: Outcome, noiseMs: number): string {
  const { scenario, wallMs, blockMs, rssMiB, note } = outcome;
  const granted = scenario.grantedMiB ? ` (${scenario.grantedMiB} granted)` : '';
  const cells = [
    scenario.id.padEnd(4),
    scenario.name.padEnd(62).slice(0, 62),
    `${blockMs.toFixed(0)} ms`.padStart(8),
    `${wallMs.toFixed(0)} ms`.padStart(8),
    `${rssMiB.toFixed(0)} MiB${granted}`.padStart(8),
    verdictOf(outcome, noiseMs).padEnd(14),
    note.slice(0, 80),
  ];
  return cells.join('  ').trimEnd();
}

export const HEAD = ['id  ', 'input'.padEnd(62), '   block', '    wall', '     RSS', 'verdict       ', 'outcome'].join(
  '  ',
);
