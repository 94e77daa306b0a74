import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { importDocument } from '../../core/openapi-conversion/import-document.ts';
import { loadDocument } from '../../core/openapi-conversion/load.ts';
import { normalise } from '../../core/openapi-conversion/normalise.ts';
import { listOperations } from '../../core/openapi-conversion/operations.ts';
import { createResolver } from '../../core/openapi-conversion/resolve.ts';
import { createSchemaReader } from '../../core/openapi-conversion/schema-view.ts';
import { successResponseOf } from '../../core/openapi-conversion/success-response.ts';
import type { JsonSchema, Tool } from '../../core/tools/tool.ts';
import { responseSchema } from '../catalogue-drafts/response-schema.ts';
import { noticeOf, toolFile } from '../catalogue-drafts/tool-file.ts';
import { finishTool } from './finish.ts';
import { overlayOf } from './overlay.ts';
import { readWords, type ToolWords, wordsOf } from './words.ts';

const DESCRIPTION = new URL(
  '../../.catalogue/vendors/node_modules/@octokit/openapi/generated/api.github.com.json',
  import.meta.url,
);
const TOOLS = new URL('../../catalogue/tools/github/', import.meta.url);
const WORDS = 'github/words.yaml';

const words = readWords();
const files = [{ name: 'api.github.com.json', text: await readFile(DESCRIPTION, 'utf8') }];
const include = { operations: words.tools.map(({ operation }) => operation) };

/** Returns the tools that the importer creates with an overlay, by name. */
async function imported(overlay: string): Promise<Map<string, Tool>> {
  const overlays = [{ name: 'overlay.json', text: overlay }];
  const { tools, report } = await importDocument({ files, overlays, connector: 'github', include, limit: 1000 });
  for (const warning of report.warnings.filter((line) => line.startsWith('The overlay'))) problems.push(warning);
  return new Map(tools.map(({ tool }) => [tool.name, tool]));
}

/**
 * Returns a function that gives the full type of a tool's response, because an imported tool only has the part that a
 * model needs.
 */
async function answers(): Promise<(entry: ToolWords) => JsonSchema> {
  const document = await normalise(loadDocument(files));
  const resolve = createResolver(document);
  const read = createSchemaReader(resolve);
  const operations = new Map(listOperations(document, resolve).map((operation) => [operation.operationId, operation]));
  return ({ operation: id, answer, select, fields }) => {
    if (answer === 'none') return { description: 'The response has no content.', type: 'null' };
    if (answer) return answer;
    const operation = operations.get(id);
    if (!operation || !fields) throw new Error('does not describe its response');
    return responseSchema(successResponseOf(operation, resolve).schema, read, select, fields);
  };
}

const problems: string[] = [];
const whole = await imported(overlayOf(words.tools, () => []));
const inputsOf = ({ name }: ToolWords) =>
  Object.keys((whole.get(name)?.input_schema['properties'] as object | undefined) ?? {});
const unsaid = (tool: ToolWords) => inputsOf(tool).filter((input) => !wordsOf(words, tool, input));
const tools = await imported(overlayOf(words.tools, unsaid));
const answerOf = await answers();

const made = new Map<string, string>();
for (const entry of words.tools) {
  try {
    const tool = tools.get(entry.name);
    if (!tool) throw new Error(`the description has no usable operation ${entry.operation}`);
    made.set(`${entry.name}.yaml`, toolFile(finishTool(tool, entry, words, answerOf(entry)), WORDS));
  } catch (error) {
    problems.push(`${entry.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

for (const file of await readdir(TOOLS)) {
  const isMade = (await readFile(new URL(file, TOOLS), 'utf8')).startsWith(noticeOf(WORDS));
  if (isMade && !made.has(file)) await rm(new URL(file, TOOLS));
  if (!isMade && made.has(file)) throw new Error(`catalogue/tools/github/${file} was written by hand`);
}
for (const [file, text] of made) await writeFile(new URL(file, TOOLS), text);
console.log(`${made.size} tools of GitHub`);
