import type { webhooks } from '../../generated/api.d.ts';
import type { Answered } from '../present/schemas.ts';

/** The name of an event, such as `connected_account.created`; the contract lists them under `webhooks`. */
export type EventType = keyof webhooks;

/** An event as the contract describes it: its data in an envelope. */
export type EventBody<T extends EventType = EventType> = Answered<
  webhooks[T]['post']['requestBody']['content']['application/json']
>;

/** What an event says, in the representations of the API. */
export type EventData<T extends EventType> = EventBody<T>['data'];
