import type {
  EnvironmentId,
  EnvironmentRow,
  ReadRepositories,
  Transaction,
  WebhookAlgorithm,
  WebhookEndpointChange,
  WebhookEndpointRow,
} from '../../db/store.ts';
import { LIFETIME, WEBHOOKS } from '../budgets.ts';
import { ApiError, requireFound } from '../errors.ts';
import type { Egress } from '../net/egress.ts';
import type { Secret } from '../secret.ts';
import type { Digester } from '../vault/digest.ts';
import { mintSigningSecret, rotateSecrets } from './signing-secret.ts';

export interface EndpointDeps {
  digester: Digester;
  newId(prefix: 'whk' | 'sec'): string;
  /** Milliseconds UTC. */
  now(): number;
  egressOf(environment: Pick<EnvironmentRow, 'id' | 'kind'>): Egress;
}

/** The fields of a request that creates or updates an endpoint, named as in the contract. */
export interface EndpointInput {
  url?: string | undefined;
  description?: string | undefined;
  event_types?: string[] | undefined;
  ordered?: boolean | undefined;
}

/** An endpoint and its new secret, which is returned only once. */
export interface EndpointWithSecret {
  endpoint: WebhookEndpointRow;
  secret: Secret;
}

/** @throws ApiError NOT_FOUND */
export async function requireEndpoint(
  read: Pick<ReadRepositories, 'webhookEndpoints'>,
  environmentId: EnvironmentId,
  id: string,
): Promise<WebhookEndpointRow> {
  return requireFound(await read.webhookEndpoints.get(environmentId, id), 'The webhook endpoint');
}

/** @throws ApiError NOT_FOUND, WEBHOOK_ENDPOINT_DISABLED */
export async function requireEnabledEndpoint(
  read: Pick<ReadRepositories, 'webhookEndpoints'>,
  environmentId: EnvironmentId,
  id: string,
): Promise<WebhookEndpointRow> {
  const endpoint = await requireEndpoint(read, environmentId, id);
  if (endpoint.enabled) return endpoint;
  throw new ApiError('WEBHOOK_ENDPOINT_DISABLED', 'The webhook endpoint is disabled. Enable it first.');
}

/** @throws ApiError VALIDATION_FAILED for an address that must not be called, WEBHOOK_ENDPOINT_LIMIT */
export async function createEndpoint(
  tx: Transaction,
  deps: EndpointDeps,
  environment: Pick<EnvironmentRow, 'id' | 'kind'>,
  input: EndpointInput & { url: string; algorithm?: WebhookAlgorithm | undefined },
): Promise<EndpointWithSecret> {
  const { id: environmentId } = environment;
  requireCallable(deps, environment, input.url);
  if ((await tx.webhookEndpoints.count(environmentId)) >= WEBHOOKS.endpoints) {
    const detail = `The environment has ${WEBHOOKS.endpoints} webhook endpoints, the maximum. Delete an unused one.`;
    throw new ApiError('WEBHOOK_ENDPOINT_LIMIT', detail);
  }
  const { algorithm = 'HMAC_SHA256' } = input;
  const id = deps.newId('whk');
  const at = deps.now();
  const reference = { environmentId, endpointId: id, secretId: deps.newId('sec') };
  const { row, secret } = mintSigningSecret(deps.digester, reference, algorithm, at);
  const endpoint: WebhookEndpointRow = {
    id,
    environmentId,
    url: input.url,
    description: input.description ?? '',
    eventTypes: input.event_types ?? [],
    ordered: input.ordered ?? false,
    algorithm,
    secrets: [row],
    enabled: true,
    disabledReason: '',
    failingSince: null,
    createdAt: at,
    updatedAt: at,
  };
  await tx.webhookEndpoints.insert(environmentId, endpoint);
  return { endpoint, secret };
}

/**
 * Changes the fields that the request contains.
 *
 * @throws ApiError VALIDATION_FAILED for an address that must not be called
 */
export async function updateEndpoint(
  tx: Transaction,
  deps: EndpointDeps,
  environment: Pick<EnvironmentRow, 'id' | 'kind'>,
  before: WebhookEndpointRow,
  { url, description, event_types: eventTypes, ordered }: EndpointInput,
): Promise<WebhookEndpointRow> {
  if (url !== undefined) requireCallable(deps, environment, url);
  return change(tx, deps, before, {
    ...(url !== undefined && { url, failingSince: null }),
    ...(description !== undefined && { description }),
    ...(eventTypes !== undefined && { eventTypes }),
    ...(ordered !== undefined && { ordered }),
  });
}

/**
 * Enables or disables deliveries. When an endpoint is enabled again, the time until repeated failures disable it starts
 * from zero.
 */
export function setEnabled(
  tx: Transaction,
  deps: EndpointDeps,
  before: WebhookEndpointRow,
  enabled: boolean,
): Promise<WebhookEndpointRow> {
  const disabledReason = enabled ? '' : 'Disabled by an API client.';
  return change(tx, deps, before, { enabled, disabledReason, failingSince: null });
}

/** Adds a secret. The previous one stays valid for at most `overlapSeconds`; older ones are removed. */
export async function rotateSecret(
  tx: Transaction,
  deps: EndpointDeps,
  before: WebhookEndpointRow,
  overlapSeconds: number = LIFETIME.secretOverlapMs / 1000,
): Promise<EndpointWithSecret> {
  const now = deps.now();
  const reference = { environmentId: before.environmentId, endpointId: before.id, secretId: deps.newId('sec') };
  const { row, secret } = mintSigningSecret(deps.digester, reference, before.algorithm, now);
  const secrets = rotateSecrets(before.secrets, row, { now, overlapMs: overlapSeconds * 1000 });
  return { endpoint: await change(tx, deps, before, { secrets }), secret };
}

async function change(
  tx: Transaction,
  { now }: EndpointDeps,
  before: WebhookEndpointRow,
  changes: WebhookEndpointChange,
): Promise<WebhookEndpointRow> {
  const all = { ...changes, updatedAt: now() };
  await tx.webhookEndpoints.update(before.environmentId, before.id, all);
  return { ...before, ...all };
}

function requireCallable(
  { egressOf }: EndpointDeps,
  environment: Pick<EnvironmentRow, 'id' | 'kind'>,
  url: string,
): void {
  const checked = egressOf(environment).check(url);
  if (checked.ok) return;
  throw new ApiError('VALIDATION_FAILED', 'The URL of the webhook endpoint is not allowed.', {
    errors: [{ field: 'url', message: checked.reason }],
  });
}
