import type { ProviderDefinition } from '../../core/connectors/provider.ts';
import type { MarkView } from '../../web/connect/layout.ts';

/**
 * The mark of a provider on pages for users. The icon of a custom provider is an address of another host, which pages never
 * load, so it has the first letter of its name.
 */
export function markOf({ displayName, iconPath = '' }: Pick<ProviderDefinition, 'displayName' | 'iconPath'>): MarkView {
  return { name: displayName, iconUrl: iconPath, isTile: iconPath !== '' };
}
