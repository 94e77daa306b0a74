import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type CatalogueFiles, readCatalogueFiles } from './catalogue-files.ts';
import { createCatalogueRules } from './catalogue-rules.ts';

const INDEX = new URL('../generated/catalogue.json', import.meta.url);

export interface BuiltCatalogue {
  /** The text of generated/catalogue.json. */
  text: string;
  /** One line per violation: file and sentence. */
  problems: string[];
}

/** Validates every file of catalogue/ and makes the index that the server loads. The same files give the same bytes. */
export async function buildCatalogue(): Promise<BuiltCatalogue> {
  const files = await readCatalogueFiles();
  const rules = createCatalogueRules(files.schemas);
  return { text: indexText(files), problems: [...files.problems, ...rules.check(files)] };
}

/** One connector or tool per line, so that a change of one shows as a change of one. */
function indexText({ connectors, tools }: CatalogueFiles): string {
  const lines = (entries: [string, unknown][]) =>
    entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n');
  const generic = new Set(connectors.filter(({ data }) => data.generic).map(({ data }) => data.identifier));
  const connectorEntries = connectors.map(({ data }): [string, unknown] => [data.identifier, data]);
  const toolEntries = tools.map(({ connector, data }): [string, unknown] => {
    const { name, input_schema, output_schema, ...rest } = data;
    const flags = generic.has(connector) ? { generic: true } : {};
    const schemas = { input_schema: withoutComments(input_schema), output_schema: withoutComments(output_schema) };
    return [name, { connector, ...flags, name, ...rest, ...schemas }];
  });
  return `{"connectors":{\n${lines(connectorEntries)}\n},"tools":{\n${lines(toolEntries)}\n}}\n`;
}

/** $comment speaks to who edits the file, not to who calls the tool. */
function withoutComments(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutComments);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).filter(([key]) => key !== '$comment');
  return Object.fromEntries(members.map(([key, value]) => [key, withoutComments(value)]));
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const { text, problems } = await buildCatalogue();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    process.exitCode = 1;
    return;
  }
  if (values.check) {
    const present = await readFile(INDEX, 'utf8').catch(() => null);
    if (present === text) return;
    console.error('generated/catalogue.json does not follow from catalogue/: run `make generate`');
    process.exitCode = 1;
    return;
  }
  await mkdir(new URL('.', INDEX), { recursive: true });
  await writeFile(INDEX, text);
}

if (import.meta.main) await main();
