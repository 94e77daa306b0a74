import type { Tool } from '../tools/tool.ts';
import { contractPattern } from './contract-pattern.ts';
import type { Connector } from './provider.ts';
import { builtInProvider, type ProviderDefinition } from './provider.ts';

/** generated/catalogue.json, read by readCatalogueIndex: every connector and tool by name, validated when it was written. */
export interface CatalogueIndex {
  connectors: Record<string, Connector>;
  tools: Record<string, Tool>;
}

export interface ToolFilter {
  /** Tools of this connector only. */
  connector?: string | undefined;
}

export interface Catalogue {
  /** A connector as the interface shows it: its patterns are as the contract knows them. */
  connector(identifier: string): Connector | undefined;
  /** The same, by display_priority, highest first, then by identifier. */
  connectors(): readonly Connector[];
  /** The connector in the form that the engines take. */
  provider(identifier: string): ProviderDefinition | undefined;
  tool(name: string): Tool | undefined;
  /** Tools in the order of names. */
  tools(filter?: ToolFilter): readonly Tool[];
}

/** Serves the built-in connectors and tools from the generated index; no tool is read here, and no schema compiled. */
export function createCatalogue(index: CatalogueIndex): Catalogue {
  const connectors = Object.values(index.connectors).sort(
    (a, b) => b.display_priority - a.display_priority || compare(a.identifier, b.identifier),
  );
  const shown = new Map(connectors.map((connector) => [connector.identifier, shownConnector(connector)]));
  // By name: to touch a tool is to parse it.
  const names = Object.keys(index.tools).sort(compare);
  const whole = (some: readonly string[]) => some.flatMap((name) => own(index.tools, name) ?? []);
  let all: readonly Tool[] | undefined;
  const providers = new Map(connectors.map((connector) => [connector.identifier, builtInProvider(connector)]));
  return {
    connector: (identifier) => shown.get(identifier),
    connectors: () => [...shown.values()],
    provider: (identifier) => providers.get(identifier),
    tool: (name) => own(index.tools, name),
    tools: ({ connector } = {}) => {
      if (connector === undefined) {
        all ??= whole(names);
        return all;
      }
      return whole(names.filter((name) => name.startsWith(`${connector}_`))).filter(
        (tool) => tool.connector === connector,
      );
    },
  };
}

/** True when a tool can be executed with accounts of a provider: its own tools, and with custom providers generic ones too. */
export function toolFits(
  tool: Tool,
  { identifier, isCustom, isMcp }: Pick<ProviderDefinition, 'identifier' | 'isCustom' | 'isMcp'>,
): boolean {
  return tool.connector === identifier || (isCustom && !isMcp && tool.generic === true);
}

function shownConnector(connector: Connector): Connector {
  return { ...connector, auth_patterns: connector.auth_patterns.map(contractPattern) };
}

function own<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** By code unit, so that the order does not depend on the machine's locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
