import { asciiJson } from '../ascii-json.ts';
import type { Tool } from '../tools/tool.ts';
import type { Connector } from './provider.ts';

const CONNECTORS = '{"connectors":{\n';
const TOOLS = '\n},"tools":{\n';
const END = '\n}}\n';

/** generated/catalogue.json: every connector, and the JSON of every tool by its name, validated when it was written. */
export interface CatalogueIndex {
  connectors: Readonly<Record<string, Connector>>;
  tools: ReadonlyMap<string, string>;
}

/**
 * The text of an index: one connector or tool per line, so that a change of one shows as a change of one, and in ASCII: one other
 * character anywhere would double the memory that the text takes.
 */
export function writeCatalogueIndex(connectors: readonly Connector[], tools: readonly Tool[]): string {
  const lines = (entries: [string, unknown][]) =>
    entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n');
  const connectorLines = lines(connectors.map((connector) => [connector.identifier, connector]));
  // The connector comes first: tools are told apart by it without being parsed.
  const toolLines = lines(tools.map(({ connector, ...tool }) => [tool.name, { connector, ...tool }]));
  return asciiJson(`${CONNECTORS}${connectorLines}${TOOLS}${toolLines}${END}`);
}

/**
 * Reads an index. Tools stay text, so that neither a start nor the first use of a tool pays for all of them.
 *
 * @throws Error when the text is not as writeCatalogueIndex writes it
 */
export function readCatalogueIndex(text: string): CatalogueIndex {
  const border = text.indexOf(TOOLS);
  if (!text.startsWith(CONNECTORS) || border === -1 || !text.endsWith(END)) {
    throw new Error('generated/catalogue.json is damaged: run `make generate`');
  }
  const connectors = JSON.parse(`{${text.slice(CONNECTORS.length, border)}}`) as Record<string, Connector>;
  const lines = text.slice(border + TOOLS.length, -END.length).split('\n');
  return { connectors, tools: new Map(lines.filter((line) => line !== '').map(entryOf)) };
}

/** A line is `"name":{…}`, with a comma after it except for the last; nothing in a name is escaped. */
function entryOf(line: string): [string, string] {
  const name = line.slice(1, line.indexOf('"', 1));
  return [name, line.slice(name.length + 3, line.endsWith(',') ? -1 : undefined)];
}

/** The connector of a tool, from its JSON. */
export function connectorOf(tool: string): string {
  return /^\{"connector":"([^"\\]*)"/.exec(tool)?.[1] ?? '';
}
