import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { builtInProvider, type Connector } from '../core/connectors/provider.ts';
import { createToolRules } from '../core/tools/tool-rules.ts';
import { checkConnector } from './catalogue-connector-rules.ts';
import type { CatalogueFiles, DataFile, ToolFile } from './catalogue-files.ts';

export interface CatalogueRules {
  /** One line per violation: file and sentence. */
  check(files: Pick<CatalogueFiles, 'connectors' | 'tools'>): string[];
}

/** The rules of the catalogue: its two schemas first, then what they cannot say. */
export function createCatalogueRules(schemas: CatalogueFiles['schemas']): CatalogueRules {
  // The schemas describe by conditions, in which a member's type and declaration stand elsewhere.
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  formats.default(ajv);
  const connectorSchema = ajv.compile(schemas.connector);
  const toolSchema = ajv.compile(schemas.tool);
  const toolRules = createToolRules();

  return {
    check: ({ connectors, tools }) => {
      const valid = connectors.filter(({ data }) => connectorSchema(data));
      const byName = new Map(valid.map((file) => [file.data.identifier, file.data]));
      return [
        ...connectors.flatMap((file) => inFile(file, judge(connectorSchema, file.data))),
        ...valid.flatMap((file) => inFile(file, checkConnector(file.data, file.name, toolsOf(tools, file)))),
        ...tools.flatMap((file) => {
          const broken = judge(toolSchema, file.data);
          const connector = byName.get(file.connector);
          if (broken.length > 0) return inFile(file, broken);
          if (!connector) return inFile(file, [`there is no valid connector ${file.connector}`]);
          return inFile(file, [
            ...(file.data.name === file.name ? [] : [`name ${file.data.name} differs from the file's name`]),
            ...toolRules
              .check(file.data, builtInProvider(connector))
              .map(({ field, message }) => `${field}: ${message}`),
          ]);
        }),
        ...twins(tools),
      ];
    },
  };
}

function inFile({ file }: { file: string }, problems: string[]): string[] {
  return problems.map((problem) => `${file}: ${problem}`);
}

function judge(validate: ValidateFunction, data: unknown): string[] {
  if (validate(data)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = params['additionalProperty'] ?? params['allowedValues'] ?? '';
    return `${instancePath || '/'} ${message} ${extra}`.trimEnd();
  });
}

function toolsOf(tools: readonly ToolFile[], { data }: DataFile<Connector>): ToolFile['data'][] {
  return tools.filter((tool) => tool.connector === data.identifier).map((tool) => tool.data);
}

/** A model cannot choose between two tools that say the same; a name stands for one tool. */
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
