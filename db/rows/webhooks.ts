import type { EnvironmentId } from '../environment-id.ts';

export type WebhookAlgorithm = 'HMAC_SHA256' | 'ED25519';

/** A signing secret. Its value is derived from its id. Times in milliseconds UTC. */
export interface WebhookSecretRow {
  id: string;
  /** For ED25519: the key that verifies signatures. */
  publicKey: string | null;
  createdAt: number;
  /** Null for the newest one. */
  expiresAt: number | null;
}

/** Times in milliseconds UTC. */
export interface WebhookEndpointRow {
  id: string;
  environmentId: EnvironmentId;
  url: string;
  description: string;
  /** Empty: all events but those of executions. */
  eventTypes: string[];
  /** Whether events of one subject are delivered one after the other. */
  ordered: boolean;
  algorithm: WebhookAlgorithm;
  /** The newest first; at most two. */
  secrets: WebhookSecretRow[];
  enabled: boolean;
  /** A sentence for people; empty while the endpoint is enabled. */
  disabledReason: string;
  /** The first failed attempt after the last one that worked. */
  failingSince: number | null;
  createdAt: number;
  updatedAt: number;
}

export type WebhookEndpointChange = Partial<Omit<WebhookEndpointRow, 'id' | 'environmentId' | 'createdAt'>>;

export type WebhookDeliveryState = 'PENDING' | 'DELIVERED' | 'FAILED';

/** What was sent and received. */
export interface WebhookAttempt {
  /** Milliseconds UTC. */
  at: number;
  durationMs: number;
  url: string;
  /** Without the signature. */
  headers: Record<string, string>;
  /** Null when no response was received. */
  status: number | null;
  /** The beginning of the response, as text. */
  body: string;
  /** Whether the response was longer. */
  isCut: boolean;
  /** Why the attempt failed, in a sentence for people; empty when it worked. */
  error: string;
}

/** One event on its way to one endpoint; the migration says what each state means. Times in milliseconds UTC. */
export interface WebhookDeliveryRow {
  id: string;
  environmentId: EnvironmentId;
  endpointId: string;
  eventId: string;
  eventSeq: number;
  eventType: string;
  subjectId: string;
  state: WebhookDeliveryState;
  /** The job that makes the next attempt. Null: an earlier event of the subject is delivered first, or nothing is left to do. */
  jobId: string | null;
  attempts: number;
  nextAttemptAt: number | null;
  lastAttempt: WebhookAttempt | null;
  createdAt: number;
  updatedAt: number;
}

export type NewWebhookDelivery = Pick<
  WebhookDeliveryRow,
  'id' | 'endpointId' | 'eventId' | 'eventSeq' | 'eventType' | 'subjectId' | 'jobId' | 'nextAttemptAt' | 'createdAt'
>;

/** Every filter that is given must match. */
export interface WebhookDeliveryFilters {
  endpointId?: string | undefined;
  eventId?: string | undefined;
  eventType?: string | undefined;
  state?: WebhookDeliveryState | undefined;
}
