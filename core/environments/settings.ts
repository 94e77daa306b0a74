import type { EnvironmentRow, EnvironmentSettings } from '../../db/store.ts';
import { userVerifyUrlProblem } from '../accounts/links/verify-url.ts';
import { ApiError } from '../errors.ts';

/** The fields of a request that changes the settings, named as in the contract; `null` clears a field. */
export interface SettingsInput {
  link_lifetime_seconds?: number | null | undefined;
  user_verify_urls?: string[] | null | undefined;
  execution_retention_days?: number | null | undefined;
  audit_retention_days?: number | null | undefined;
  keep_execution_contents?: boolean | null | undefined;
  keep_events?: boolean | null | undefined;
}

/**
 * Returns the settings of an environment after a change.
 *
 * @throws ApiError VALIDATION_FAILED, naming each address that users cannot be redirected to
 */
export function changeSettings({ kind, settings }: EnvironmentRow, input: SettingsInput): EnvironmentSettings {
  const { link_lifetime_seconds: lifetime, user_verify_urls: urls } = input;
  const errors = (urls ?? []).flatMap((url, index) => {
    const message = userVerifyUrlProblem(url, kind);
    return message ? [{ field: `user_verify_urls[${index}]`, message }] : [];
  });
  if (errors.length > 0) throw new ApiError('VALIDATION_FAILED', 'An address is invalid.', { errors });
  const changed = { ...settings };
  if (lifetime !== undefined) changed.linkTtlMs = lifetime === null ? undefined : lifetime * 1000;
  if (urls !== undefined) changed.userVerifyUrls = urls ?? undefined;
  const { execution_retention_days: days, keep_execution_contents: keep } = input;
  if (days !== undefined) changed.executionRetentionDays = days ?? undefined;
  if (input.audit_retention_days !== undefined) changed.auditRetentionDays = input.audit_retention_days ?? undefined;
  if (keep !== undefined) changed.keepExecutionContents = keep ?? undefined;
  if (input.keep_events !== undefined) changed.keepEvents = input.keep_events ?? undefined;
  return changed;
}
