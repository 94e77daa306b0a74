import { ApiError } from '../../core/errors.ts';
import type { EnvironmentId, ReadRepositories, WebhookDeliveryRow } from '../../db/store.ts';

/** @throws ApiError NOT_FOUND */
export async function requireDelivery(
  read: Pick<ReadRepositories, 'webhookDeliveries'>,
  environmentId: EnvironmentId,
  id: string,
): Promise<WebhookDeliveryRow> {
  const delivery = await read.webhookDeliveries.get(environmentId, id);
  if (!delivery) throw new ApiError('NOT_FOUND', 'The delivery does not exist.');
  return delivery;
}
