import { createConfig, lint } from '@redocly/openapi-core';
import type { RulesetDefinition } from '@stoplight/spectral-core';
import spectralCore from '@stoplight/spectral-core';
import spectralParsers from '@stoplight/spectral-parsers';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { bundleSpec, SPEC_ROOT } from './bundle.ts';
import { describeProblem } from './bundle-problem.ts';
import { ContractResolver } from './contract-resolver.ts';
import type { JsonObject } from './openapi-document.ts';

/** Rules of Spectral that are disabled, each with its reason. */
const SPECTRAL_OFF = {
  'contact-properties': 'off', // the project has no mailbox
  'license-url': 'off', // the license has an SPDX identifier, which excludes a URL
  'openapi-tags-alphabetical': 'off', // tags are in reading order
} as const;

/** Rules of Redocly that are disabled. */
const REDOCLY_OFF = {
  'operation-operationId': 'off', // our own rule requires one in `paths`; webhooks have names instead
} as const;

/**
 * Checks the contract with two general linters, each at its strictest. Our own rules are checked when the contract is
 * generated. Any finding fails the check, because permanent warnings are ignored.
 *
 * @returns one line per finding: rule, place, message; none for a clean contract
 */
export async function lintSpec(): Promise<string[]> {
  const document = await bundleSpec();
  return [...(await redocly()), ...(await spectral(document))];
}

/** Runs Redocly on the source files, so that a finding names file and line. */
async function redocly(): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: REDOCLY_OFF });
  const problems = await lint({ ref: SPEC_ROOT, config, externalRefResolver: new ContractResolver(SPEC_ROOT) });
  return problems.map((problem) => `${describeProblem(problem)} (redocly ${problem.ruleId})`);
}

/** Runs Spectral on the bundle, which is what client generators read. */
async function spectral(document: JsonObject): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  // The package's own type of its rule set is narrower than the type that its core accepts.
  const oas = spectralRulesets.oas as unknown as RulesetDefinition;
  linter.setRuleset({ extends: [[oas, 'all']], rules: SPECTRAL_OFF });
  const source = new spectralCore.Document(JSON.stringify(document), spectralParsers.Json, 'openapi.json');
  const results = await linter.run(source);
  return results.map(({ code, path, message }) => `spectral ${code} ${path.join('.')}: ${message}`);
}

if (import.meta.main) {
  const findings = await lintSpec();
  for (const finding of findings) console.error(finding);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
