import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Catalogue, createCatalogue } from '../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import type { ProviderDefinition } from '../core/connectors/provider.ts';
import { type PreparedCall, prepareCall } from '../core/tools/call.ts';
import { renderRequest } from '../core/tools/request.ts';
import { callOfStep, exampleValues } from '../core/tools/step-request.ts';
import type { Tool } from '../core/tools/tool.ts';
import { sampleAccount } from '../core/tools/tool-rules.ts';

/**
 * Records the request of the first example of each tool: one file per connector in test/catalogue-requests/. A test
 * compares the files with what the engine renders, so a change of the engine shows in the requests that it changes.
 *
 * node scripts/catalogue-requests.ts --write
 */
const FOLDER = new URL('../test/catalogue-requests/', import.meta.url);
const INDEX = new URL('../generated/catalogue.json', import.meta.url);
/** Longer bodies are recorded by their beginning and their digest. */
const BODY_CHARS = 400;

export function openCatalogue(): Catalogue {
  return createCatalogue(readCatalogueIndex(readFileSync(INDEX, 'utf8')));
}

/** Returns the text of the file of each connector, by its identifier. */
export function renderAll(catalogue: Catalogue): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { identifier } of catalogue.connectors()) {
    const provider = addressed(catalogue.provider(identifier) as ProviderDefinition);
    const tools = catalogue.toolNames(identifier).flatMap((name) => catalogue.peek(name) ?? []);
    const lines = tools.filter(({ examples }) => examples.length > 0).map((tool) => recordOf(tool, provider));
    if (lines.length > 0) texts.set(identifier, `${lines.join('\n\n')}\n`);
  }
  return texts;
}

/** Returns the recorded files, by connector. */
export function readRecorded(): Map<string, string> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));
  return new Map(names.map((name) => [name.slice(0, -'.txt'.length), readFileSync(new URL(name, FOLDER), 'utf8')]));
}

/**
 * Gives the provider of generic tools a sample address. Generic tools only run with custom providers, each of which has
 * its own address.
 */
function addressed(provider: ProviderDefinition): ProviderDefinition {
  const { base_url: base, base_url_input: input } = provider.api;
  const hasAddress = base !== undefined || input !== undefined;
  return hasAddress
    ? provider
    : { ...provider, isCustom: true, proxyEnabled: true, proxyUrl: 'https://api.example.test' };
}

/**
 * Returns the requests of a tool. The requests of its further steps contain sample values in place of those that a
 * step takes from a response.
 */
function recordOf(tool: Tool, provider: ProviderDefinition): string {
  const call = callOf(tool, provider);
  const requests = [requestOf(call)];
  let { input } = call;
  for (const step of tool.request.steps ?? []) {
    input = { ...input, ...exampleValues(step) };
    const next = callOfStep({ ...call, input }, step, false);
    if (typeof next === 'string') throw new Error(`${tool.name}: ${next}`);
    requests.push(requestOf(next));
  }
  return [tool.name, ...requests].join('\n');
}

function requestOf(call: PreparedCall): string {
  const { method, url, headers, body, preview } = renderRequest(call, { parts: [], secrets: [] });
  const named = Object.entries(headers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}: ${withoutBoundary(value)}`);
  const shown = body === undefined ? [] : [shortened(JSON.stringify(preview))];
  return [`${method} ${url}`, ...named, ...shown].join('\n');
}

/**
 * Prepares a call with the first example. The input is not validated, because that would compile thousands of schemas.
 * `make generate` validates the examples.
 */
function callOf(tool: Tool, provider: ProviderDefinition): PreparedCall {
  const [pattern] = provider.authPatterns;
  if (!pattern) throw new Error(`${provider.identifier} has no authentication pattern`);
  const input = { ...defaultsOf(tool), ...structuredClone(tool.examples[0]?.input) };
  const facts = { tool, provider, pattern, account: sampleAccount(provider), toolInput: input };
  const unused = {
    check: () => {
      throw new Error('the input is given as checked');
    },
  };
  return prepareCall({ ...facts, checked: { input }, executionId: 'exec_example' }, unused);
}

function defaultsOf({ input_schema: schema }: Tool): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, { default?: unknown }>;
  const given = Object.entries(properties).filter(([, input]) => input.default !== undefined);
  return Object.fromEntries(given.map(([name, input]) => [name, structuredClone(input.default)]));
}

/** Removes the boundary of a multipart body, because it is random. */
function withoutBoundary(value: string): string {
  return value.replace(/boundary=\S+/, 'boundary=…');
}

function shortened(text: string): string {
  if (text.length <= BODY_CHARS) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${text.slice(0, BODY_CHARS)}… sha256 ${digest}`;
}

if (process.argv.includes('--write')) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [connector, text] of renderAll(openCatalogue())) writeFileSync(new URL(`${connector}.txt`, FOLDER), text);
}
