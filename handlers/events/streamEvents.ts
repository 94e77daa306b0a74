import { StreamedBody } from '../../core/bodies/streamed-body.ts';
import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { ApiError } from '../../core/errors.ts';
import { serverSentEvents } from '../../core/webhooks/server-sent-events.ts';
import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Handler } from '../../http/contract.ts';

export const streamEvents: Handler<'streamEvents', Webhooks> = async (call, reply, { store, eventFeed }) => {
  const environmentId = call.environment.id;
  await requireEvents(store.read, environmentId);
  const after = await startOf(store.read, environmentId, call.headers['last-event-id']);
  eventFeed.requireFreeStream(environmentId);
  const subscription = { environmentId, clientId: call.client.clientId, after };
  const { type } = call.query;
  const body = new StreamedBody((signal) => serverSentEvents(eventFeed.follow(subscription, signal), type));
  return reply(200, body, { 'content-type': 'text/event-stream' });
};

/**
 * Rejects the request if the environment stores no events: it does not keep them, and has no enabled webhook endpoint.
 * Otherwise the stream would stay empty without a visible reason.
 *
 * @throws ApiError EVENTS_NOT_KEPT
 */
async function requireEvents(read: ReadRepositories, environmentId: EnvironmentId): Promise<void> {
  const environment = await read.environments.get(environmentId);
  if (environment?.settings.keepEvents || (await read.webhookEndpoints.enabled(environmentId)).length > 0) return;
  const detail = 'The environment does not keep its events and has no enabled webhook endpoint. Set keep_events.';
  throw new ApiError('EVENTS_NOT_KEPT', detail);
}

/**
 * Returns the `seq` after which the stream begins: that of the last event which the client has received, otherwise that
 * of the newest event.
 *
 * @throws ApiError NOT_FOUND if the client's last event is not stored
 */
async function startOf(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  lastEventId: string | undefined,
): Promise<number> {
  if (lastEventId === undefined) return read.events.last(environmentId);
  const last = await read.events.get(environmentId, lastEventId);
  if (last) return last.seq;
  throw new ApiError(
    'NOT_FOUND',
    'The event of Last-Event-ID is not stored; it may have been deleted. Connect without this header to receive new events.',
  );
}
