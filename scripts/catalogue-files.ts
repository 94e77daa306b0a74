import { readdir, readFile } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import type { Connector } from '../core/connectors/provider.ts';
import type { JsonSchema, ToolDefinition } from '../core/tools/tool.ts';
import type { MarkSource } from './catalogue-marks/marks.ts';

const ROOT = new URL('../catalogue/', import.meta.url);

/** One file of catalogue/. Its data has not been validated against its schema yet. */
export interface DataFile<T> {
  /** The path relative to the root of the project. */
  file: string;
  /** The file's name without .yaml. */
  name: string;
  data: T;
}

/** With which description of the vendor a tool was compared, and when. It stays in the file and is not in the index. */
export interface Comparison {
  with: string;
  on: string;
  /** Differences from the vendor's description that a reviewer has accepted, each with its reason. */
  differs?: Record<string, string>;
}

export type ToolFile = DataFile<ToolDefinition & { compared?: Comparison }> & { connector: string };

/** A connector as its file describes it. */
export type ConnectorFile = Omit<Connector, 'mark'> & { mark?: MarkSource };

export interface CatalogueFiles {
  schemas: { connector: JsonSchema; tool: JsonSchema };
  connectors: DataFile<ConnectorFile>[];
  tools: ToolFile[];
  /** Files that could not be read. */
  problems: string[];
}

/**
 * Reads catalogue/: connectors/<identifier>.yaml, and tools/<connector>/<name>.yaml with its line in
 * search-words/<connector>.yaml, in order of their names.
 */
export async function readCatalogueFiles(): Promise<CatalogueFiles> {
  const problems: string[] = [];
  const connectors = await readFolder<ConnectorFile>('connectors/', problems);
  const tools: ToolFile[] = [];
  const folders = await readdir(new URL('tools/', ROOT), { withFileTypes: true });
  for (const folder of folders.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!folder.isDirectory()) {
      problems.push(`catalogue/tools/${folder.name}: only folders of connectors are allowed here`);
      continue;
    }
    const files = await readFolder<ToolFile['data']>(`tools/${folder.name}/`, problems);
    tools.push(...files.map((file) => ({ ...file, connector: folder.name })));
  }
  await addSearchWords(tools, problems);
  return {
    schemas: { connector: await readSchema('connector'), tool: await readSchema('tool') },
    connectors,
    tools,
    problems,
  };
}

/** Adds the search words, which have separate files because most files of tools are generated. */
async function addSearchWords(tools: readonly ToolFile[], problems: string[]): Promise<void> {
  const byName = new Map(tools.map((tool) => [tool.name, tool.data]));
  const isUnreadable = (file: string) => problems.some((problem) => problem.startsWith(`${file}:`));
  for (const { file, name: connector, data } of await readFolder<Record<string, string>>('search-words/', problems)) {
    for (const [name, words] of Object.entries(data)) {
      const tool = byName.get(`${connector}_${name}`);
      if (tool) tool.search_words = words;
      else if (!isUnreadable(`catalogue/tools/${connector}/${connector}_${name}.yaml`))
        problems.push(`${file}: ${name}: there is no tool ${connector}_${name}`);
    }
  }
}

async function readSchema(name: string): Promise<JsonSchema> {
  return JSON.parse(await readFile(new URL(`${name}.schema.json`, ROOT), 'utf8')) as JsonSchema;
}

async function readFolder<T>(folder: string, problems: string[]): Promise<DataFile<T>[]> {
  const found: DataFile<T>[] = [];
  for (const name of (await readdir(new URL(folder, ROOT))).sort()) {
    const file = `catalogue/${folder}${name}`;
    const lines = new LineCounter();
    const document = parseDocument(await readFile(new URL(folder + name, ROOT), 'utf8'), {
      strict: true,
      uniqueKeys: true,
      prettyErrors: false,
      lineCounter: lines,
    });
    const [error] = [...document.errors, ...document.warnings];
    if (!name.endsWith('.yaml')) problems.push(`${file}: only .yaml files are allowed here`);
    else if (error) {
      const { line, col } = lines.linePos(error.pos[0]);
      problems.push(`${file}:${line}:${col}: ${error.message}`);
    } else found.push({ file, name: name.slice(0, -'.yaml'.length), data: document.toJS({ maxAliasCount: 0 }) as T });
  }
  return found;
}
