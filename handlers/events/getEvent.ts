import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { ApiError } from '../../core/errors.ts';
import { presentEvent } from '../../core/present/event.ts';
import type { Handler } from '../../http/contract.ts';

export const getEvent: Handler<'getEvent', Webhooks> = async (call, reply, { store }) => {
  const event = await store.read.events.get(call.environment.id, call.path.event_id);
  if (!event) throw new ApiError('NOT_FOUND', 'The event does not exist, or was not stored.');
  return reply(200, { event: presentEvent(event) });
};
