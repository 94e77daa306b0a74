import { asciiJson } from '../text/ascii-json.ts';
import type { Tool } from '../tools/tool.ts';
import type { Connector } from './provider.ts';

const CONNECTORS = '{"connectors":{\n';
const TOOLS = '\n},"tools":{\n';
const END = '\n}}\n';

/**
 * The content of generated/catalogue.json: every connector, and the JSON text of every tool by name. It was validated
 * when it was generated.
 */
export interface CatalogueIndex {
  connectors: Readonly<Record<string, Connector>>;
  tools: ReadonlyMap<string, string>;
}

/**
 * Returns the text of an index. Each connector or tool is one line, so that a diff shows exactly what changed. The text
 * is ASCII, because a single other character would double its memory.
 */
export function writeCatalogueIndex(connectors: readonly Connector[], tools: readonly Tool[]): string {
  const lines = (entries: [string, unknown][]) =>
    entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n');
  const connectorLines = lines(connectors.map((connector) => [connector.identifier, connector]));
  // The connector is the first member, so that it can be read without parsing the tool.
  const toolLines = lines(tools.map(({ connector, ...tool }) => [tool.name, { connector, ...tool }]));
  return asciiJson(`${CONNECTORS}${connectorLines}${TOOLS}${toolLines}${END}`);
}

/**
 * Reads an index. Tools stay text, so that neither the start nor the first use of a tool parses all of them.
 *
 * @throws Error if the text was not written by `writeCatalogueIndex`
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

/** Reads a line `"name":{…}`; every line but the last ends with a comma. A name contains no escapes. */
function entryOf(line: string): [string, string] {
  const name = line.slice(1, line.indexOf('"', 1));
  return [name, line.slice(name.length + 3, line.endsWith(',') ? -1 : undefined)];
}

/** Returns the connector of a tool from its JSON text. */
export function connectorOf(tool: string): string {
  return /^\{"connector":"([^"\\]*)"/.exec(tool)?.[1] ?? '';
}
