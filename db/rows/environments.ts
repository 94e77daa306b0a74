import type { EnvironmentId } from '../environment-id.ts';

export type EnvironmentKind = 'DEVELOPMENT' | 'PRODUCTION';

export interface EnvironmentRow {
  id: EnvironmentId;
  kind: EnvironmentKind;
  baseUrl: string;
  settings: EnvironmentSettings;
  createdAt: number;
  /** The host names of the environment, in lower case and without a port. */
  hosts: string[];
}

export interface EnvironmentSettings {
  /** How long a magic link is valid, in milliseconds. */
  linkTtlMs?: number;
  /** The addresses that users may be redirected to after a finished link, compared exactly. */
  userVerifyUrls?: string[];
  /** What users see on the pages of links: the application's name, color and addresses. */
  applicationName?: string;
  accentColor?: string;
  supportUrl?: string;
  privacyUrl?: string;
  termsUrl?: string;
  /** The digest of the stored logo; undefined if there is none. */
  logoDigest?: string;
  /** How many days execution records are kept. */
  executionRetentionDays?: number;
  /** How many days audit records stay in the database before they are archived. If undefined, they are not archived. */
  auditRetentionDays?: number;
  /** Whether the requests and responses of executions are stored with their records. */
  keepExecutionContents?: boolean;
  /** Whether all events are stored, except those of executions. */
  keepEvents?: boolean;
  /** The page where users log in for MCP clients; undefined if there is no login. */
  mcpLoginUrl?: string;
  /** Whether MCP clients may register themselves; true if undefined. */
  mcpDynamicRegistration?: boolean;
  /** Hosts of client metadata documents: MCP clients with a document on such a host need no consent of the user. */
  mcpTrustedClientHosts?: string[];
  /** Private schemes of redirect addresses of MCP clients. */
  mcpRedirectSchemes?: string[];
  [setting: string]: unknown;
}
