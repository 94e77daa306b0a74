import type { EnvironmentRow, EnvironmentSettings } from '../../db/store.ts';
import { applicationUrlProblem, userVerifyUrlProblem } from '../accounts/links/verify-url.ts';
import { ApiError, type FieldError } from '../errors.ts';
import { schemeProblem } from '../mcp-login/redirect-uri.ts';
import { type BrandInput, brandProblems, changedBrand } from './brand.ts';

/** The fields of a request that changes the settings, named as in the contract; `null` clears a field. */
export interface SettingsInput extends BrandInput {
  link_lifetime_seconds?: number | null | undefined;
  user_verify_urls?: string[] | null | undefined;
  execution_retention_days?: number | null | undefined;
  audit_retention_days?: number | null | undefined;
  keep_execution_contents?: boolean | null | undefined;
  keep_events?: boolean | null | undefined;
  mcp_login_url?: string | null | undefined;
  mcp_dynamic_registration?: boolean | null | undefined;
  mcp_trusted_client_hosts?: string[] | null | undefined;
  mcp_redirect_schemes?: string[] | null | undefined;
}

/**
 * Returns the settings of an environment after a change.
 *
 * @throws ApiError VALIDATION_FAILED, naming each invalid field
 */
export function changeSettings({ kind, settings }: EnvironmentRow, input: SettingsInput): EnvironmentSettings {
  const { link_lifetime_seconds: lifetime, user_verify_urls: urls } = input;
  const { mcp_login_url: loginUrl, mcp_trusted_client_hosts: hosts, mcp_redirect_schemes: schemes } = input;
  const errors = [
    ...problemsOf('user_verify_urls', urls, (url) => userVerifyUrlProblem(url, kind)),
    ...problemsOf('mcp_trusted_client_hosts', hosts, hostProblem),
    ...problemsOf('mcp_redirect_schemes', schemes, schemeProblem),
  ];
  const loginProblem = loginUrl ? applicationUrlProblem(loginUrl, kind, ['login_request']) : undefined;
  if (loginProblem) errors.push({ field: 'mcp_login_url', message: loginProblem });
  errors.push(...brandProblems(input));
  if (errors.length > 0)
    throw new ApiError('VALIDATION_FAILED', 'The settings of the environment are invalid.', { errors });
  const changed = { ...settings, ...changedBrand(settings, input) };
  if (lifetime !== undefined) changed.linkTtlMs = lifetime === null ? undefined : lifetime * 1000;
  if (urls !== undefined) changed.userVerifyUrls = urls ?? undefined;
  const { execution_retention_days: days, keep_execution_contents: keep } = input;
  if (days !== undefined) changed.executionRetentionDays = days ?? undefined;
  if (input.audit_retention_days !== undefined) changed.auditRetentionDays = input.audit_retention_days ?? undefined;
  if (keep !== undefined) changed.keepExecutionContents = keep ?? undefined;
  if (input.keep_events !== undefined) changed.keepEvents = input.keep_events ?? undefined;
  if (loginUrl !== undefined) changed.mcpLoginUrl = loginUrl ?? undefined;
  if (hosts !== undefined) changed.mcpTrustedClientHosts = hosts ?? undefined;
  if (schemes !== undefined) changed.mcpRedirectSchemes = schemes ?? undefined;
  const { mcp_dynamic_registration: dynamic } = input;
  if (dynamic !== undefined) changed.mcpDynamicRegistration = dynamic ?? undefined;
  return changed;
}

function problemsOf(
  name: string,
  values: readonly string[] | null | undefined,
  problemOf: (value: string) => string | undefined,
): FieldError[] {
  return (values ?? []).flatMap((value, index) => {
    const message = problemOf(value);
    return message ? [{ field: `${name}[${index}]`, message }] : [];
  });
}

function hostProblem(host: string): string | undefined {
  const isName = /^[a-z0-9.-]+$/.test(host) && URL.parse(`https://${host}`)?.href === `https://${host}/`;
  return isName ? undefined : 'must be a host name in lower case, without a port';
}
