import type { Tool } from '../tools/tool.ts';
import type { CatalogueIndex } from './catalogue-index.ts';
import { contractPattern } from './contract-pattern.ts';
import type { Connector } from './provider.ts';
import { builtInProvider, type ProviderDefinition } from './provider.ts';

export interface Catalogue {
  /**
   * Returns a connector with its auth patterns as the REST API shows them: without the keys that only connector files
   * have.
   */
  connector(identifier: string): Connector | undefined;
  /** All connectors, sorted by display_priority, highest first, then by identifier. */
  connectors(): readonly Connector[];
  /** Returns the connector in the format that the rest of core/ uses. */
  provider(identifier: string): ProviderDefinition | undefined;
  /** Returns a tool; always the same object, because compiled schemas and parsed templates are cached with it. */
  tool(name: string): Tool | undefined;
  hasTool(name: string): boolean;
  /** The names of tools, sorted; only those of one connector if it is given. */
  toolNames(connector?: string): readonly string[];
  /** The tools of a connector, sorted by name. */
  toolsOf(connector: string): Tool[];
  /** The tools that work with any HTTP API. */
  genericTools(): Tool[];
  /** Returns a tool as `tool` does, but does not add it to the cache. */
  peek(name: string): Tool | undefined;
}

/** Provides the built-in connectors and tools from the generated index. A tool is parsed when it is first used. */
export function createCatalogue(index: CatalogueIndex): Catalogue {
  const connectors = Object.values(index.connectors).sort(
    (a, b) => b.display_priority - a.display_priority || compare(a.identifier, b.identifier),
  );
  const shown = new Map(connectors.map((connector) => [connector.identifier, shownConnector(connector)]));
  const providers = new Map(connectors.map((connector) => [connector.identifier, builtInProvider(connector)]));
  const names = [...index.tools.keys()].sort(compare);
  const namesOf = Map.groupBy(names, (name) => index.tools.get(name)?.connector ?? '');
  const generic = names.filter((name) => index.tools.get(name)?.generic);
  const kept = new Map<string, Tool>();

  function peek(name: string): Tool | undefined {
    const known = kept.get(name);
    const text = known ? undefined : index.tools.get(name)?.text();
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

/**
 * Whether a tool can be executed with accounts of a provider: the provider's own tools, and for custom providers that
 * are not MCP servers also generic tools.
 */
export function toolFits(
  tool: Pick<Tool, 'connector' | 'generic'>,
  { identifier, isCustom, isMcp }: Pick<ProviderDefinition, 'identifier' | 'isCustom' | 'isMcp'>,
): boolean {
  return tool.connector === identifier || (isCustom && !isMcp && tool.generic === true);
}

function shownConnector(connector: Connector): Connector {
  return { ...connector, auth_patterns: connector.auth_patterns.map(contractPattern) };
}

/** Compares by code unit, so that the order does not depend on the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
