import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Pairs of operation and status that a server under test has answered in this run. */
const produced = new Set<string>();

export function recordAnswer(operationId: string | undefined, status: number): void {
  if (operationId) produced.add(`${operationId} ${status}`);
}

/** The pairs that the contract declares and nothing has produced. */
export function missingPairs(): string[] {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
  const declared: string[] = [];
  for (const item of Object.values<Record<string, { operationId?: string; responses?: object }>>(document.paths)) {
    for (const { operationId, responses } of Object.values(item)) {
      for (const status of Object.keys(responses ?? {})) if (operationId) declared.push(`${operationId} ${status}`);
    }
  }
  return declared.filter((pair) => !produced.has(pair)).sort();
}
