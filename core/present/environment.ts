import type { EnvironmentRow } from '../../db/store.ts';
import { LIFETIME } from '../budgets.ts';
import { retentionDays } from '../contents/execution-contents.ts';
import { DEFAULT_SCHEMES } from '../mcp-login/redirect-uri.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentEnvironment({
  id,
  kind,
  baseUrl,
  hosts,
  settings,
  createdAt,
}: EnvironmentRow): Schemas['Environment'] {
  return {
    id,
    kind,
    base_url: baseUrl,
    hosts,
    link_lifetime_seconds: (settings.linkTtlMs ?? LIFETIME.linkMs) / 1000,
    user_verify_urls: settings.userVerifyUrls ?? [],
    execution_retention_days: retentionDays(settings),
    audit_retention_days: settings.auditRetentionDays ?? null,
    keep_execution_contents: settings.keepExecutionContents ?? false,
    keep_events: settings.keepEvents ?? false,
    mcp_login_url: settings.mcpLoginUrl ?? null,
    mcp_dynamic_registration: settings.mcpDynamicRegistration ?? true,
    mcp_trusted_client_hosts: settings.mcpTrustedClientHosts ?? [],
    mcp_redirect_schemes: [...(settings.mcpRedirectSchemes ?? DEFAULT_SCHEMES)],
    created_at: rfc3339(createdAt),
  };
}
