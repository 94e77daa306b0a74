import type { EventRow } from '../../db/store.ts';
import type { Schemas } from './schemas.ts';

/** An event as it was delivered. */
export function presentEvent({ body }: EventRow): Schemas['Event'] {
  return JSON.parse(body) as Schemas['Event'];
}
