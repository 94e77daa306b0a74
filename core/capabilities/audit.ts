import type { LogPlaces } from '../audit/log-places.ts';
import type { Lists } from './lists.ts';

/** The audit log. */
export interface Audit extends Lists {
  logPlaces: LogPlaces;
}
