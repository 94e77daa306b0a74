import { asciiJson } from '../ascii-json.ts';
import type { Tool } from '../tools/tool.ts';
import type { CatalogueIndex } from './catalogue.ts';
import type { Connector } from './provider.ts';

const CONNECTORS = '{"connectors":{\n';
const TOOLS = '\n},"tools":{\n';
const END = '\n}}\n';

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
  const toolLines = lines(tools.map((tool) => [tool.name, tool]));
  return asciiJson(`${CONNECTORS}${connectorLines}${TOOLS}${toolLines}${END}`);
}

/**
 * Reads an index. The line of a tool stays text until the tool is first asked for, so that a start does not pay for all.
 *
 * @throws Error when the text is not as writeCatalogueIndex writes it
 */
export function readCatalogueIndex(text: string): CatalogueIndex {
  const border = text.indexOf(TOOLS);
  if (!text.startsWith(CONNECTORS) || border === -1 || !text.endsWith(END)) {
    throw new Error('The index of the catalogue is not as it was written: run `make generate`');
  }
  const connectors = JSON.parse(`{${text.slice(CONNECTORS.length, border)}}`) as CatalogueIndex['connectors'];
  const tools: CatalogueIndex['tools'] = {};
  for (const line of text.slice(border + TOOLS.length, -END.length).split('\n')) if (line !== '') addLine(tools, line);
  return { connectors, tools };
}

/** A line is `"name":{…}`, with a comma after it save for the last; nothing in a name is escaped. */
function addLine(tools: CatalogueIndex['tools'], line: string): void {
  const name = line.slice(1, line.indexOf('"', 1));
  const end = line.endsWith(',') ? -1 : undefined;
  const describe = { enumerable: true, configurable: true };
  Object.defineProperty(tools, name, {
    ...describe,
    get: () => {
      const tool = JSON.parse(line.slice(name.length + 3, end)) as Tool;
      Object.defineProperty(tools, name, { ...describe, value: tool });
      return tool;
    },
  });
}
