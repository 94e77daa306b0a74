import type { ProviderDefinition } from '../../core/connectors/provider.ts';
import type { MarkView } from '../../web/connect/layout.ts';

/** The mark of a provider on pages for users. */
export function markOf({ displayName }: Pick<ProviderDefinition, 'displayName'>): MarkView {
  return { name: displayName, iconUrl: '' };
}
