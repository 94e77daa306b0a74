import type { Tool } from '../tools/tool.ts';
import type { CatalogueIndex } from './catalogue.ts';
import type { Connector } from './provider.ts';

/** The members that only a call, or whoever reads one tool in full, needs; they stand last in a tool's line. */
const LATE_MEMBERS = [
  'input_schema',
  'output_schema',
  'examples',
  'request',
  'pagination',
  'response',
  'errors',
] as const satisfies readonly (keyof Tool)[];

type LateTool = Pick<Tool, (typeof LATE_MEMBERS)[number]>;
type EarlyTool = Omit<Tool, keyof LateTool>;

const CONNECTORS = '{"connectors":{\n';
const TOOLS = '\n},"tools":{\n';
const END = '\n}}\n';
/** Inside a JSON text every quotation mark is escaped, so this can only be the border itself. */
const BORDER = `,"${LATE_MEMBERS[0]}":`;

/** The text of an index: one connector or tool per line, so that a change of one shows as a change of one. */
export function writeCatalogueIndex(connectors: readonly Connector[], tools: readonly Tool[]): string {
  const lines = (entries: [string, unknown][]) =>
    entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n');
  const connectorLines = lines(connectors.map((connector) => [connector.identifier, connector]));
  const toolLines = lines(tools.map((tool) => [tool.name, lateMembersLast(tool)]));
  return `${CONNECTORS}${connectorLines}${TOOLS}${toolLines}${END}`;
}

/**
 * Reads an index. Of a tool only what lists, filters and rankings need is parsed here; the rest (five sixths of the text)
 * stays text until it is first asked for, and is parsed once.
 *
 * @throws Error when the text is not as writeCatalogueIndex writes it
 */
export function readCatalogueIndex(text: string): CatalogueIndex {
  const border = text.indexOf(TOOLS);
  if (!text.startsWith(CONNECTORS) || border === -1 || !text.endsWith(END)) {
    throw new Error('The index of the catalogue is not as it was written: run `make generate`');
  }
  const connectors = JSON.parse(`{${text.slice(CONNECTORS.length, border)}}`) as CatalogueIndex['connectors'];
  const lines = text.slice(border + TOOLS.length, -END.length).split('\n');
  const spans = lines.filter((line) => line !== '').map(spansOf);
  // One parse of many small objects costs a fraction of many parses.
  const early = JSON.parse(`[${spans.map((span) => span.early).join(',')}]`) as EarlyTool[];
  const tools = early.map((tool, index) => [tool.name, withLateMembers(tool, spans[index]?.late ?? '{}')] as const);
  return { connectors, tools: Object.fromEntries(tools) };
}

function lateMembersLast(tool: Tool): Partial<Tool> {
  const late: readonly string[] = LATE_MEMBERS;
  const early = Object.entries(tool).filter(([key]) => !late.includes(key));
  const rest = LATE_MEMBERS.flatMap((key) => (tool[key] === undefined ? [] : [[key, tool[key]]]));
  return Object.fromEntries([...early, ...rest]);
}

/** A line is `"name":{early members,"input_schema":…}` with a comma after it, save for the last. */
function spansOf(line: string): { early: string; late: string } {
  const border = line.indexOf(BORDER);
  const end = line.endsWith(',') ? -1 : undefined;
  return { early: `${line.slice(line.indexOf('{'), border)}}`, late: `{${line.slice(border + 1, end)}` };
}

function withLateMembers(early: EarlyTool, text: string): Tool {
  let late: LateTool | undefined;
  const parsed = (): LateTool => {
    late ??= JSON.parse(text) as LateTool;
    return late;
  };
  // Own members, so that a copy by spread and JSON.stringify hold them too.
  return {
    ...early,
    get input_schema() {
      return parsed().input_schema;
    },
    get output_schema() {
      return parsed().output_schema;
    },
    get examples() {
      return parsed().examples;
    },
    get request() {
      return parsed().request;
    },
    get pagination() {
      return parsed().pagination;
    },
    get response() {
      return parsed().response;
    },
    get errors() {
      return parsed().errors;
    },
  };
}
