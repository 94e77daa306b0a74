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
  /** The addresses that a finished link may send a user to, compared exactly. */
  userVerifyUrls?: string[];
  /** How long records of executions are kept. */
  executionRetentionDays?: number;
  /** How long records stay in the audit log before they are archived. Undefined keeps them there. */
  auditRetentionDays?: number;
  /** Whether the requests and responses of executions are kept with their records. */
  keepExecutionContents?: boolean;
  [setting: string]: unknown;
}
