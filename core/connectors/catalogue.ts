import type { Tool } from '../tools/tool.ts';
import { type CatalogueIndex, connectorOf } from './catalogue-index.ts';
import { contractPattern } from './contract-pattern.ts';
import type { Connector } from './provider.ts';
import { builtInProvider, type ProviderDefinition } from './provider.ts';

export interface Catalogue {
  /** A connector as the interface shows it: its patterns are as the contract knows them. */
  connector(identifier: string): Connector | undefined;
  /** The same, by display_priority, highest first, then by identifier. */
  connectors(): readonly Connector[];
  /** The connector in the form that the engines take. */
  provider(identifier: string): ProviderDefinition | undefined;
  /** The same object each time: compiled schemas and parsed templates are kept with it. */
  tool(name: string): Tool | undefined;
  hasTool(name: string): boolean;
  /** The names of tools in order, of this connector only if one is given. */
  toolNames(connector?: string): readonly string[];
  /** The tools of a connector in the order of names. */
  toolsOf(connector: string): Tool[];
  /** The tools that fit any HTTP API. */
  genericTools(): Tool[];
  /** A tool for a single look: it is parsed for the caller and not kept. */
  peek(name: string): Tool | undefined;
}

/** Serves the built-in connectors and tools from the generated index. A tool is parsed when it is first asked for. */
export function createCatalogue(index: CatalogueIndex): Catalogue {
  const connectors = Object.values(index.connectors).sort(
    (a, b) => b.display_priority - a.display_priority || compare(a.identifier, b.identifier),
  );
  const shown = new Map(connectors.map((connector) => [connector.identifier, shownConnector(connector)]));
  const providers = new Map(connectors.map((connector) => [connector.identifier, builtInProvider(connector)]));
  const names = [...index.tools.keys()].sort(compare);
  const namesOf = Map.groupBy(names, (name) => connectorOf(index.tools.get(name) ?? ''));
  const generic = names.filter((name) => index.tools.get(name)?.includes('"generic":true'));
  const kept = new Map<string, Tool>();

  function peek(name: string): Tool | undefined {
    const known = kept.get(name);
    const text = known ? undefined : index.tools.get(name);
    return known ?? (text === undefined ? undefined : (JSON.parse(text) as Tool));
  }

  function tool(name: string): Tool | undefined {
    const found = peek(name);
    if (found) kept.set(name, found);
    return found;
  }

  return {
    connector: (identifier) => shown.get(identifier),
    connectors: () => [...shown.values()],
    provider: (identifier) => providers.get(identifier),
    tool,
    peek,
    hasTool: (name) => index.tools.has(name),
    toolNames: (connector) => (connector === undefined ? names : (namesOf.get(connector) ?? [])),
    toolsOf: (connector) => (namesOf.get(connector) ?? []).flatMap((name) => tool(name) ?? []),
    genericTools: () => generic.flatMap((name) => tool(name) ?? []).filter((found) => found.generic === true),
  };
}

/** True when a tool can be executed with accounts of a provider: its own tools, and with custom providers generic ones too. */
export function toolFits(
  tool: Pick<Tool, 'connector' | 'generic'>,
  { identifier, isCustom, isMcp }: Pick<ProviderDefinition, 'identifier' | 'isCustom' | 'isMcp'>,
): boolean {
  return tool.connector === identifier || (isCustom && !isMcp && tool.generic === true);
}

function shownConnector(connector: Connector): Connector {
  return { ...connector, auth_patterns: connector.auth_patterns.map(contractPattern) };
}

/** By code unit, so that the order does not depend on the machine's locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
