import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLE } from './contract-files.ts';
import { type JsonObject, operationsOf } from './openapi-document.ts';

const FOLDER = 'test/operations';

/**
 * Checks that every operation of the contract has its own test file, `test/operations/<operationId>.test.ts`.
 *
 * @param root folder of the repository
 * @param contract the bundled OpenAPI document
 * @returns one line for each operation without a test file
 */
export function untestedOperations(root: string, contract: JsonObject): string[] {
  return operationsOf(contract)
    .map(({ id }) => ({ id, file: `${FOLDER}/${id}.test.ts` }))
    .filter(({ file }) => !existsSync(join(root, file)))
    .map(({ id, file }) => `the operation ${id} has no tests: add ${file}, with one describe for each status`);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const contract = JSON.parse(readFileSync(join(root, 'generated', BUNDLE), 'utf8')) as JsonObject;
  const untested = untestedOperations(root, contract);
  for (const line of untested) console.error(line);
  if (untested.length > 0) process.exit(1);
  console.log('operations: each has a test file');
}
