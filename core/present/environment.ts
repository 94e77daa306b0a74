import type { EnvironmentRow } from '../../db/store.ts';
import { LIFETIME } from '../budgets.ts';
import { retentionDays } from '../contents/execution-contents.ts';
import { logoUrl } from '../environments/brand.ts';
import { DEFAULT_SCHEMES } from '../mcp-login/redirect-uri.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentEnvironment(environment: EnvironmentRow): Schemas['Environment'] {
  const { id, kind, baseUrl, hosts, settings, createdAt } = environment;
  return {
    id,
    kind,
    base_url: baseUrl,
    hosts,
    link_lifetime_seconds: (settings.linkTtlMs ?? LIFETIME.linkMs) / 1000,
    user_verify_urls: settings.userVerifyUrls ?? [],
    application_name: settings.applicationName ?? null,
    logo_url: logoUrl(environment),
    accent_color: settings.accentColor ?? null,
    support_url: settings.supportUrl ?? null,
    privacy_url: settings.privacyUrl ?? null,
    terms_url: settings.termsUrl ?? null,
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
