import type { CustomProviderRow } from '../../db/store.ts';
import type { CustomProviderDefinition } from '../connections/providers.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { contractPattern } from '../connectors/contract-pattern.ts';
import { markImage } from '../connectors/mark.ts';
import type { Connector } from '../connectors/provider.ts';
import type { SyncReport } from '../mcp/upstream/sync.ts';
import { EMPTY } from './optional.ts';
import type { Schemas } from './schemas.ts';

export function presentCustomProvider(row: CustomProviderRow): Schemas['Provider'] {
  const definition = row.definition as unknown as CustomProviderDefinition;
  return {
    ...definition,
    auth_patterns: definition.auth_patterns.map(contractPattern) as Schemas['AuthPattern'][],
    id: row.id,
    identifier: row.identifier,
    categories: [],
    coming_soon: false,
    display_priority: 0,
    is_custom: true,
    is_custom_mcp: row.isMcp,
  };
}

/** An item in a list of providers. `present` is called only if it is on the page. */
export interface ListedProvider {
  id: string;
  isCustom: boolean;
  /** The text that is searched. */
  text: string;
  present(): Schemas['Provider'];
}

export function listedCustomProvider(row: CustomProviderRow): ListedProvider {
  const { display_name, description } = row.definition as unknown as CustomProviderDefinition;
  const text = `${row.identifier}\n${display_name}\n${description}`;
  return { id: row.id, isCustom: true, text, present: () => presentCustomProvider(row) };
}

/** @param baseUrl of the environment, which the address of the icon begins with */
export function listedConnector(connector: Connector, baseUrl: string): ListedProvider {
  const { identifier, display_name, description } = connector;
  const text = `${identifier}\n${display_name}\n${description}`;
  return { id: identifier, isCustom: false, text, present: () => presentConnector(connector, baseUrl) };
}

export function presentConnector(connector: Connector, baseUrl: string): Schemas['Provider'] {
  const { identifier, display_name: name, mark } = connector;
  return {
    id: connector.identifier,
    identifier: connector.identifier,
    display_name: connector.display_name,
    description: connector.description,
    icon_src: mark ? `${baseUrl}${markImage(identifier, name, mark).path}` : EMPTY,
    metadata: {},
    proxy_enabled: false,
    proxy_url: EMPTY,
    auth_patterns: connector.auth_patterns.map(presentPattern),
    categories: connector.categories,
    coming_soon: false,
    display_priority: connector.display_priority,
    is_custom: false,
    is_custom_mcp: false,
  };
}

/** Removes `auth_scheme`, which only connector files have. */
function presentPattern({ auth_scheme: _scheme, ...pattern }: AuthPattern): Schemas['AuthPattern'] {
  return pattern as Schemas['AuthPattern'];
}

export function presentSyncReport({ leftOut, ...report }: SyncReport): Schemas['ToolSyncReport'] {
  return { ...report, left_out: leftOut };
}
