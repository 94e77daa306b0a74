import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { writeCatalogueIndex } from '../core/connectors/catalogue-index.ts';
import type { Mark } from '../core/connectors/mark.ts';
import type { Tool } from '../core/tools/tool.ts';
import { type CatalogueFiles, readCatalogueFiles } from './catalogue-files.ts';
import { type MarkSource, readIcons, resolveMark } from './catalogue-marks/marks.ts';
import { memberNames, placedInCatalogue } from './catalogue-places.ts';
import { createCatalogueRules } from './catalogue-rules.ts';

type Icons = ReturnType<typeof readIcons>;

const INDEX = new URL('../generated/catalogue.json', import.meta.url);

export interface BuiltCatalogue {
  /** The text of generated/catalogue.json. */
  text: string;
  /** One line per violation: file, line, column and sentence. */
  problems: string[];
}

/**
 * Validates every file of catalogue/ and creates the index that the server loads. The same files always give the same
 * bytes.
 */
export async function buildCatalogue(): Promise<BuiltCatalogue> {
  const files = await readCatalogueFiles();
  const rules = createCatalogueRules(files.schemas);
  const icons = readIcons();
  const problems = [...files.problems, ...rules.check(files), ...unknownIcons(files, icons)];
  const names = memberNames(Object.values(files.schemas));
  return { text: indexText(files, icons), problems: problems.map((problem) => placedInCatalogue(problem, names)) };
}

function unknownIcons({ connectors }: CatalogueFiles, icons: Icons): string[] {
  return connectors.flatMap(({ file, data: { mark } }) =>
    mark && 'icon' in mark && !(mark.icon in icons)
      ? [`${file}: catalogue/generated/marks.json has no icon ${mark.icon}: run \`make catalogue-marks\``]
      : [],
  );
}

/** The mark of a connector whose file names none. */
const PLAIN: MarkSource = { color: '#505a6b' };

function indexText({ connectors, tools }: CatalogueFiles, icons: Icons): string {
  const generic = new Set(connectors.filter(({ data }) => data.generic).map(({ data }) => data.identifier));
  const entries = tools.map(({ connector, data }): Tool => {
    const { input_schema, output_schema, compared: _compared, ...rest } = data;
    const flags = generic.has(connector) ? { generic: true } : {};
    const schemas = { input_schema: withoutComments(input_schema), output_schema: withoutComments(output_schema) };
    return { connector, ...flags, ...rest, ...schemas };
  });
  return writeCatalogueIndex(
    connectors.map(({ data: { mark = PLAIN, ...data } }) => ({ ...data, mark: resolveMark(mark, icons) as Mark })),
    entries,
  );
}

/** Removes $comment, which is for authors of the file, not for callers of the tool. */
function withoutComments<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withoutComments) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).filter(([key]) => key !== '$comment');
  return Object.fromEntries(members.map(([key, value]) => [key, withoutComments(value)])) as T;
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
