import type { ProviderDefinition } from '../../core/connectors/provider.ts';
import type { MarkView } from '../../web/connect/layout.ts';

/**
 * The icon of a provider on pages for users. The icon of a custom provider is on another host, and pages load nothing
 * from other hosts. They show the first letter of the provider's name instead.
 */
export function markOf({ displayName, iconPath = '' }: Pick<ProviderDefinition, 'displayName' | 'iconPath'>): MarkView {
  return { name: displayName, iconUrl: iconPath, isTile: iconPath !== '' };
}
