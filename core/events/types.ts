import type { webhooks } from '../../generated/api.d.ts';
import type { ResponseValue } from '../present/schemas.ts';

/** The name of an event, such as `connected_account.created`; the contract lists them under `webhooks`. */
export type EventType = keyof webhooks;

/** An event as the contract describes it: an envelope with data. */
export type EventBody<T extends EventType = EventType> = ResponseValue<
  webhooks[T]['post']['requestBody']['content']['application/json']
>;

/** The data of an event, in the API's representations. */
export type EventData<T extends EventType> = EventBody<T>['data'];
