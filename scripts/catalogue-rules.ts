import { builtInProvider } from '../core/connectors/provider.ts';
import type { FieldError } from '../core/errors.ts';
import { createDefinitionSchema } from '../core/tools/definition-schema.ts';
import { createToolRules } from '../core/tools/tool-rules.ts';
import { checkConnector } from './catalogue-connector-rules.ts';
import type { CatalogueFiles, ConnectorFile, DataFile, ToolFile } from './catalogue-files.ts';

export interface CatalogueRules {
  /** One line per violation: file and sentence. */
  check(files: Pick<CatalogueFiles, 'connectors' | 'tools'>): string[];
}

/** Creates the rules of the catalogue: its two schemas first, then the rules that these cannot express. */
export function createCatalogueRules(schemas: CatalogueFiles['schemas']): CatalogueRules {
  const schema = createDefinitionSchema(schemas);
  const toolRules = createToolRules();

  return {
    check: ({ connectors, tools }) => {
      const valid = connectors.filter(({ data }) => schema.checkConnector(data).length === 0);
      const byName = new Map(valid.map(({ data: { mark: _mark, ...connector } }) => [connector.identifier, connector]));
      return [
        ...connectors.flatMap((file) => inFile(file, problemTexts(schema.checkConnector(file.data)))),
        ...valid.flatMap((file) => inFile(file, checkConnector(file.data, file.name, toolsOf(tools, file)))),
        ...tools.flatMap((file) => {
          const broken = problemTexts(schema.checkTool(file.data));
          const connector = byName.get(file.connector);
          if (broken.length > 0) return inFile(file, broken);
          // The problems of an invalid connector are reported in its file.
          if (!connector) return [];
          return inFile(file, [
            ...(file.data.name === file.name ? [] : [`name ${file.data.name} differs from the file's name`]),
            ...problemTexts(toolRules.check(file.data, builtInProvider(connector))),
            ...invertedSentences(file.data),
          ]);
        }),
        ...twins(tools),
        ...homeless(tools, connectors),
      ];
    },
  };
}

function inFile({ file }: { file: string }, problems: string[]): string[] {
  return problems.map((problem) => `${file}: ${problem}`);
}

function problemTexts(problems: readonly FieldError[]): string[] {
  return problems.map(({ field, message }) => `${field}: ${message}`);
}

function toolsOf(tools: readonly ToolFile[], { data }: DataFile<ConnectorFile>): ToolFile['data'][] {
  return tools.filter((tool) => tool.connector === data.identifier).map((tool) => tool.data);
}

/** Reports folders of tools without a connector. */
function homeless(tools: readonly ToolFile[], connectors: readonly DataFile<ConnectorFile>[]): string[] {
  const known = new Set(connectors.map(({ name }) => name));
  const names = new Set(tools.map(({ connector }) => connector).filter((name) => !known.has(name)));
  return [...names].map((name) => `catalogue/tools/${name}: there is no connector ${name} in catalogue/connectors`);
}

/** Matches "Open tasks list x_list_tasks.", where the tool's name is in the place of the object. */
const INVERTED = /\b(?:finds|gives?|lists?|makes|marks|says|shows|tells|writes) ([a-z]+_[a-z0-9]+_[a-z0-9_]+)[.,;]/;

/** Reports descriptions that name another tool after its verb. */
function invertedSentences({ description }: ToolFile['data']): string[] {
  const [found, tool] = INVERTED.exec(String(description)) ?? [];
  return found ? [`description: write "${tool} returns …" or "use ${tool} to …" instead of "${found}"`] : [];
}

/** Reports tools with the same name or the same description, because a model could not choose between them. */
function twins(tools: readonly ToolFile[]): string[] {
  const problems: string[] = [];
  const seen = new Map<string, string>();
  for (const { file, connector, data } of tools) {
    for (const [key, what] of [
      [`name ${data.name}`, 'name'],
      [`${connector} ${String(data.description).trim()}`, 'description'],
    ] as const) {
      const other = seen.get(key);
      if (other) problems.push(`${file}: has the same ${what} as ${other}`);
      seen.set(key, file);
    }
  }
  return problems;
}
