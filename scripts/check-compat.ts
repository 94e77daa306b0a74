import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { breakingChanges } from './compatibility.ts';
import { BUNDLE } from './contract-files.ts';
import { type JsonObject, objectAt } from './openapi-document.ts';
import {
  readAcceptedBreaks,
  readReleasedContract,
  unacceptedBreaks,
  writeReleasedContract,
} from './released-contract.ts';

/**
 * Compares the contract with the released one, `releases/openapi.json`: clients of the release must keep working. A
 * breaking change must be intended, and listed in `releases/accepted-breaks.yaml` with a reason.
 *
 * - without an option: compares
 * - `--release`: makes the contract the released one, as a step of a release
 */
function main(): void {
  const { values } = parseArgs({ options: { release: { type: 'boolean' } } });
  const file = join(import.meta.dirname, '../generated', BUNDLE);
  const current = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
  if (values.release) writeReleasedContract(current);
  const released = readReleasedContract();
  if (released === null) {
    console.log('No released contract to compare with.');
    return;
  }
  const version = objectAt(released, 'info')['version'];
  const breaks = unacceptedBreaks(breakingChanges(released, current), readAcceptedBreaks());
  for (const finding of breaks) console.error(`breaks clients of ${version}: ${finding}`);
  if (breaks.length > 0) process.exitCode = 1;
  else console.log(`The contract is compatible with ${version}.`);
}

main();
