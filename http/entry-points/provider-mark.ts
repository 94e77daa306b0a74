import type { ProviderDefinition } from '../../core/connectors/provider.ts';
import type { MarkView } from '../../web/connect/layout.ts';

/**
 * The icon of a provider on pages for users. The icon of a custom provider is on another host, which pages never load,
 * so the first letter of its name is shown.
 */
export function markOf({ displayName, iconPath = '' }: Pick<ProviderDefinition, 'displayName' | 'iconPath'>): MarkView {
  return { name: displayName, iconUrl: iconPath, isTile: iconPath !== '' };
}
