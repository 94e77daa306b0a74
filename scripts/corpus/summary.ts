import { LEFT_OUT_REASONS } from '../../core/openapi-conversion/report.ts';
import type { CallVerdicts } from './compare-calls.ts';
import type { DocumentVerdict } from './verdict.ts';

const MAX_MS = 10_000;
const MIN_SHARE = 0.995;
const SHOWN = 20;

interface Totals {
  documents: number;
  refused: string[];
  failures: string[];
  slow: string[];
  operations: number;
  imported: number;
  leftOut: Record<string, number>;
  unreadable: string[];
  notes: Record<string, number>;
  faults: string[];
  compared: number;
  equal: number;
  known: Record<string, number>;
  different: string[];
  /** Documents that the other renderer (`@readme/oas-to-har`) could not handle. */
  notRendered: string[];
  slowest: { name: string; bytes: number; milliseconds: number };
  milliseconds: number;
}

export function addUp(
  verdicts: readonly DocumentVerdict[],
  calls: readonly { name: string; verdict: CallVerdicts | string }[],
): Totals {
  const totals: Totals = {
    documents: verdicts.length,
    refused: [],
    failures: [],
    slow: [],
    operations: 0,
    imported: 0,
    leftOut: {},
    unreadable: [],
    notes: {},
    faults: [],
    compared: 0,
    equal: 0,
    known: {},
    different: [],
    notRendered: [],
    slowest: { name: '', bytes: 0, milliseconds: 0 },
    milliseconds: 0,
  };
  for (const verdict of verdicts) {
    totals.milliseconds += verdict.milliseconds;
    if (verdict.milliseconds > totals.slowest.milliseconds) totals.slowest = verdict;
    if (verdict.milliseconds > MAX_MS) totals.slow.push(verdict.name);
    if ('failure' in verdict) {
      (verdict.refused ? totals.refused : totals.failures).push(`${verdict.name}: ${verdict.failure}`);
      continue;
    }
    totals.operations += verdict.operations;
    totals.imported += verdict.imported;
    add(totals.leftOut, verdict.leftOut);
    add(totals.notes, verdict.notes);
    totals.unreadable.push(...verdict.unreadable);
    totals.faults.push(...verdict.faults.map((fault) => `${verdict.name} ${fault}`));
  }
  for (const { name, verdict } of calls) {
    if (typeof verdict === 'string') {
      totals.notRendered.push(`${name}: ${verdict}`);
      continue;
    }
    totals.compared += verdict.compared;
    totals.equal += verdict.equal;
    add(totals.known, verdict.known);
    totals.different.push(...verdict.different.map((text) => `${name} ${text}`));
  }
  return totals;
}

function add(into: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [key, value] of Object.entries(counts)) into[key] = (into[key] ?? 0) + value;
}

/**
 * Prints the totals.
 *
 * @returns whether enough operations were imported, no document failed or was too slow, and no tool or compared call
 * has an error
 */
export function printReport(totals: Totals, memoryBytes: number): boolean {
  const unreadable = totals.leftOut['UNREADABLE'] ?? 0;
  const byPolicy = Object.entries(totals.leftOut).reduce(
    (sum, [reason, n]) => sum + (reason === 'UNREADABLE' ? 0 : n),
    0,
  );
  const share = (totals.imported + byPolicy) / Math.max(totals.operations, 1);
  console.log(
    `documents      ${totals.documents} imported in ${(totals.milliseconds / 1000).toFixed(1)} s, slowest ${totals.slowest.name} (${(totals.slowest.bytes / 1e6).toFixed(1)} MB) ${(totals.slowest.milliseconds / 1000).toFixed(1)} s`,
  );
  console.log(`refused        ${totals.refused.length} documents that describe no operation`);
  console.log(
    `operations     ${totals.operations}: ${totals.imported} imported, ${byPolicy} left out by policy, ${unreadable} unreadable: ${(share * 100).toFixed(3)} %`,
  );
  for (const [reason, n] of sorted(totals.leftOut))
    console.log(`  ${reason.padEnd(16)} ${n}  ${LEFT_OUT_REASONS[reason as keyof typeof LEFT_OUT_REASONS]}`);
  console.log('notes');
  for (const [kind, n] of sorted(totals.notes)) console.log(`  ${kind.padEnd(16)} ${n}`);
  console.log(
    `calls          ${totals.compared} rendered by both: ${totals.equal} equal, ${totals.different.length} different`,
  );
  for (const [why, n] of sorted(totals.known)) console.log(`  ${n} where the other renderer ${why}`);
  if (totals.notRendered.length > 0)
    console.log(
      `  on ${totals.notRendered.length} documents the other renderer gives up: ${totals.notRendered.slice(0, 5).join('; ')}`,
    );
  console.log(
    `memory         ${(memoryBytes / 2 ** 20).toFixed(0)} MB at most in one process, the other renderer and the compiler of schemas included`,
  );
  const lists = { failures: totals.failures, slow: totals.slow, faults: totals.faults, different: totals.different };
  for (const [what, list] of Object.entries({ ...lists, unreadable: totals.unreadable })) {
    if (list.length > 0) console.log(`${what} (${list.length})\n  ${list.slice(0, SHOWN).join('\n  ')}`);
  }
  return share >= MIN_SHARE && Object.values(lists).every((list) => list.length === 0);
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort((a, b) => b[1] - a[1]);
}
