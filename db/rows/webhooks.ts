import type { EnvironmentId } from '../environment-id.ts';

export type WebhookAlgorithm = 'HMAC_SHA256' | 'ED25519';

/** A signing secret. Its value is derived from its id. All times are in milliseconds UTC. */
export interface WebhookSecretRow {
  id: string;
  /** For ED25519, the public key, which verifies signatures. */
  publicKey: string | null;
  createdAt: number;
  /** null for the newest secret. */
  expiresAt: number | null;
}

/** A webhook endpoint. All times are in milliseconds UTC. */
export interface WebhookEndpointRow {
  id: string;
  environmentId: EnvironmentId;
  url: string;
  description: string;
  /** If empty, all events except those of executions. */
  eventTypes: string[];
  /** Whether events of one subject are delivered one after the other. */
  ordered: boolean;
  algorithm: WebhookAlgorithm;
  /** The newest first; at most two. */
  secrets: WebhookSecretRow[];
  enabled: boolean;
  /** A sentence for users; empty while the endpoint is enabled. */
  disabledReason: string;
  /** The time of the first failed attempt since the last successful one. */
  failingSince: number | null;
  createdAt: number;
  updatedAt: number;
}

export type WebhookEndpointChange = Partial<Omit<WebhookEndpointRow, 'id' | 'environmentId' | 'createdAt'>>;

export type WebhookDeliveryState = 'PENDING' | 'DELIVERED' | 'FAILED';

/** One attempt of a delivery: what was sent and received. */
export interface WebhookAttempt {
  /** Milliseconds UTC. */
  at: number;
  durationMs: number;
  url: string;
  /** The request headers, without the signature. */
  headers: Record<string, string>;
  /** null if no response was received. */
  status: number | null;
  /** The beginning of the response, as text. */
  body: string;
  /** Whether the response was longer. */
  isCut: boolean;
  /** Why the attempt failed, as a sentence for users; empty if it succeeded. */
  error: string;
}

/**
 * The delivery of one event to one endpoint. It is PENDING until it succeeds or is given up. All times are in
 * milliseconds UTC.
 */
export interface WebhookDeliveryRow {
  id: string;
  environmentId: EnvironmentId;
  endpointId: string;
  eventId: string;
  eventSeq: number;
  eventType: string;
  subjectId: string;
  state: WebhookDeliveryState;
  /**
   * The job that makes the next attempt. null if an earlier event of the subject must be delivered first, or if the
   * delivery has ended.
   */
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
