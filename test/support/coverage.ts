import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Pairs of operation and status that a server under test has returned in this process, and the events that it has
 * emitted.
 */
const produced = new Set<string>();

export function recordResponse(operationId: string | undefined, status: number): void {
  if (operationId) produced.add(`${operationId} ${status}`);
}

/** Records that an event was emitted and conforms to the contract. */
export function recordEvent(type: string): void {
  produced.add(eventPair(type));
}

function eventPair(type: string): string {
  return `event ${type}`;
}

/** Writes the pairs of this process to a folder, and replaces those that it wrote before. */
export function saveResponses(folder: string): void {
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify([...produced]));
}

/** Returns the pairs and events that the contract declares and no process has written to a folder. */
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
  for (const type of Object.keys(document.webhooks)) declared.push(eventPair(type));
  return declared.filter((pair) => !answered.has(pair)).sort();
}
