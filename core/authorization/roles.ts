import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { moduleOf } from './registry.ts';

/**
 * Whether the accounts of a pattern are OAuth clients themselves, so that no user grants access: they use client
 * credentials, or are backend services of a health record system.
 */
export function isClientPattern(pattern: AuthPattern): boolean {
  return moduleOf(pattern.type).isClient?.(pattern) ?? false;
}

/** Whether users grant the access of accounts by consent at the provider. */
export function isGranted(pattern: AuthPattern): boolean {
  const { consent } = moduleOf(pattern.type);
  return consent !== undefined && (consent.isFor?.(pattern) ?? true);
}

/**
 * Whether the provider of a pattern is a health record system, which publishes its own token endpoint (SMART App Launch
 * 2.2).
 */
export function isRecordSystem({ type, oauth_config: config }: Pick<AuthPattern, 'type' | 'oauth_config'>): boolean {
  return moduleOf(type).isRecordSystem === true || config?.discovery === 'smart';
}

/** Whether accounts of a type have credentials. */
export function needsCredentials(type: string): boolean {
  return moduleOf(type).forms.length > 0;
}

/** Whether the provider of a pattern is an MCP server that names its authorization server (RFC 9728). */
export function isDiscoveredByMcp({ is_mcp: isMcp, type }: AuthPattern): boolean {
  return isMcp === true && moduleOf(type).isDiscoveredByMcp === true;
}
