import type { AuthPattern } from './auth-pattern.ts';
import type { CredentialCheck } from './credential-check.ts';
import { type Mark, markImage } from './mark.ts';

/**
 * A rule that detects a failure in the JSON body of a response. Of a provider's rules, the first that matches applies.
 * Pointers are RFC 6901.
 */
export interface ErrorPredicate {
  when: { pointer: string; equals?: Scalar; not_equals?: Scalar; exists?: boolean };
  statuses?: number[];
  code?: string;
  message?: string | string[];
  kinds?: Record<string, PredicateKind>;
  /** The kind if `kinds` has no entry for the failure; `status`: derived from the HTTP status. */
  default: PredicateKind | 'status';
}

type Scalar = string | number | boolean | null;

/** The kinds of failure that a response can report. Calls without a response have further kinds. */
export type PredicateKind =
  | 'upstream_bad_request'
  | 'upstream_auth'
  | 'upstream_forbidden'
  | 'upstream_not_found'
  | 'upstream_conflict'
  | 'upstream_rate_limited'
  | 'upstream_server_error'
  | 'upstream_invalid_response';

export type ResetUnit = 'epoch_seconds' | 'epoch_milliseconds' | 'seconds' | 'rfc3339' | 'duration';

export interface RateLimitHeaders {
  limit_header?: string;
  remaining_header?: string;
  reset_header?: string;
  reset_unit?: ResetUnit;
  statuses?: number[];
}

/** The `api` section of a connector file; catalogue/connector.schema.json describes each key. */
export interface ConnectorApi {
  base_url?: string;
  base_url_input?: string;
  headers?: Record<string, string>;
  rate_limit?: RateLimitHeaders;
  errors?: ErrorPredicate[];
  idempotency_header?: string;
  extra_origins?: string[];
  transfer_hosts?: string[];
}

/** The content of a connector file; catalogue/connector.schema.json describes it. */
export interface Connector {
  identifier: string;
  display_name: string;
  description: string;
  categories: string[];
  display_priority: number;
  vendor: string;
  mark?: Mark;
  generic?: boolean;
  documentation_url: string;
  verified_on: string;
  confidence: 'high' | 'medium' | 'low';
  sources: string[];
  api: ConnectorApi;
  check?: CredentialCheck;
  auth_patterns: AuthPattern[];
}

/**
 * The definition of a provider, built-in or custom. Its own members are camelCase; `api` and `authPatterns` keep the
 * keys of the files or requests that they were written in.
 */
export interface ProviderDefinition {
  identifier: string;
  displayName: string;
  isCustom: boolean;
  /** The path of its icon on this server; undefined for custom providers, and for connectors without an icon. */
  iconPath?: string;
  api: ConnectorApi;
  /** A cheap call that shows whether a credential is accepted. */
  check?: CredentialCheck;
  authPatterns: readonly AuthPattern[];
  proxyEnabled: boolean;
  /** An https address, or an http address of this machine; it may contain {{field}} placeholders. */
  proxyUrl?: string;
  /** The provider is an MCP server at its address, and lists its tools itself. */
  isMcp?: boolean;
  /** The version of the stored definition of a custom provider. */
  version?: number;
}

/** Returns a built-in connector as a provider; it is called directly, at its own API base. */
export function builtInProvider(connector: Connector): ProviderDefinition {
  return {
    identifier: connector.identifier,
    displayName: connector.display_name,
    isCustom: false,
    ...(connector.mark && { iconPath: markImage(connector.identifier, connector.display_name, connector.mark).path }),
    api: connector.api,
    ...(connector.check && { check: connector.check }),
    authPatterns: connector.auth_patterns,
    proxyEnabled: false,
  };
}

/** The stored definition of a custom provider. */
export interface CustomProviderFacts {
  identifier: string;
  displayName: string;
  authPatterns: readonly AuthPattern[];
  proxyEnabled: boolean;
  proxyUrl?: string | null;
}

/** Returns a custom provider. It has no API definition, so its only address is `proxy_url`. */
export function customProvider(facts: CustomProviderFacts): ProviderDefinition {
  const isMcp = facts.authPatterns.some((pattern) => pattern.is_mcp);
  return {
    identifier: facts.identifier,
    displayName: facts.displayName,
    isCustom: true,
    api: {},
    authPatterns: facts.authPatterns,
    // `proxyUrl` is the only address of an MCP server, so it is always used.
    proxyEnabled: facts.proxyEnabled || isMcp,
    proxyUrl: facts.proxyUrl ?? undefined,
    isMcp,
  };
}
