import { asciiJson } from '../text/ascii-json.ts';
import type { Tool } from '../tools/tool.ts';
import type { Connector } from './provider.ts';

const CONNECTORS = '{"connectors":{\n';
const TOOLS = '\n},"tools":{\n';
const END = '\n}}\n';

/**
 * The content of generated/catalogue.json: every connector, and every tool by name. It was validated when it was
 * generated.
 */
export interface CatalogueIndex {
  connectors: Readonly<Record<string, Connector>>;
  tools: ReadonlyMap<string, IndexedTool>;
}

export interface IndexedTool {
  connector: string;
  generic: boolean;
  /** Returns the JSON text of the tool. */
  text(): string;
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
 * @param content the index
 * @param read reads a part of the stored index again; if it is given, the texts of tools are not kept in memory
 * @throws Error if the content does not have the form that `writeCatalogueIndex` creates
 */
export function readCatalogueIndex(
  content: string | Buffer,
  read?: (from: number, length: number) => string,
): CatalogueIndex {
  // The text is ASCII, so a character index in it is also the byte offset in the file.
  const text = typeof content === 'string' ? content : content.toString('latin1');
  const border = text.indexOf(TOOLS);
  if (!text.startsWith(CONNECTORS) || border === -1 || !text.endsWith(END)) {
    throw new Error('generated/catalogue.json is damaged: run `make generate`');
  }
  const connectors = JSON.parse(`{${text.slice(CONNECTORS.length, border)}}`) as Record<string, Connector>;
  const tools = new Map<string, IndexedTool>();
  const end = text.length - END.length;
  for (let from = border + TOOLS.length; from < end; ) {
    const lineEnd = text.indexOf('\n', from);
    // Every line but the last ends with a comma.
    const line = text.slice(from, text[lineEnd - 1] === ',' ? lineEnd - 1 : lineEnd);
    const [name, tool] = entryOf(line, from, read);
    tools.set(name, tool);
    from = lineEnd + 1;
  }
  return { connectors, tools };
}

/** Reads a line `"name":{…}`, which begins at the offset `from` of the index. A name contains no escapes. */
function entryOf(line: string, from: number, read?: (from: number, length: number) => string): [string, IndexedTool] {
  const border = line.indexOf('"', 1);
  const json = line.slice(border + 2);
  const facts = { connector: own(connectorOf(json)), generic: json.includes('"generic":true') };
  const text = read ? later(read, from + border + 2, json.length) : () => json;
  return [own(line.slice(1, border)), { ...facts, text }];
}

/** A separate function, because a closure created in `entryOf` would keep the whole text in memory. */
function later(read: (from: number, length: number) => string, from: number, length: number): () => string {
  return () => read(from, length);
}

/** Copies a part of a text, because V8 keeps the whole text as long as a slice of it is in use. */
function own(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}

function connectorOf(tool: string): string {
  return /^\{"connector":"([^"\\]*)"/.exec(tool)?.[1] ?? '';
}
