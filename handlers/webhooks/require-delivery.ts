import { requireFound } from '../../core/errors.ts';
import type { EnvironmentId, ReadRepositories, WebhookDeliveryRow } from '../../db/store.ts';

/** @throws ApiError NOT_FOUND */
export async function requireDelivery(
  read: Pick<ReadRepositories, 'webhookDeliveries'>,
  environmentId: EnvironmentId,
  id: string,
): Promise<WebhookDeliveryRow> {
  return requireFound(await read.webhookDeliveries.get(environmentId, id), 'The delivery');
}
