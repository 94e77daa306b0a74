import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pairs of operation and status that a server under test has answered in this process. */
const produced = new Set<string>();

export function recordAnswer(operationId: string | undefined, status: number): void {
  if (operationId) produced.add(`${operationId} ${status}`);
}

/** Leaves the pairs of this process in a folder, in place of those that it has left before. */
export function keepAnswers(folder: string): void {
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify([...produced]));
}

/** The pairs that the contract declares and no process has left in a folder. */
export function missingPairs(folder: string): string[] {
  const answered = new Set(
    readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[]),
  );
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
  const declared: string[] = [];
  for (const item of Object.values<Record<string, { operationId?: string; responses?: object }>>(document.paths)) {
    for (const { operationId, responses } of Object.values(item)) {
      for (const status of Object.keys(responses ?? {})) if (operationId) declared.push(`${operationId} ${status}`);
    }
  }
  return declared.filter((pair) => !answered.has(pair)).sort();
}
