import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api.ts';

/** The query of one provider, which several parts of a page share. */
export function providerQuery(identifier: string) {
  return queryOptions({
    queryKey: ['providers', 'one', identifier],
    queryFn: () => take(api.GET('/api/v1/providers/{identifier}', { params: { path: { identifier } } })),
  });
}

/** Whether a provider is a third-party MCP server; false while it is not loaded. */
export function isMcpProvider(loaded: Loaded | undefined): boolean {
  return loaded?.provider.auth_patterns.some(({ is_mcp: isMcp }) => isMcp === true) ?? false;
}

interface Loaded {
  provider: { auth_patterns: readonly { is_mcp?: boolean }[] };
}
