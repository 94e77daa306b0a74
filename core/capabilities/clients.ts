import type { Events } from '../events/events.ts';
import type { Digester } from '../vault/digest.ts';
import type { Lists } from './lists.ts';

/** The dependencies of the API operations on API clients and their secrets. */
export interface Clients extends Lists {
  digester: Digester;
  events: Events;
  newId(prefix: 'cli' | 'sec'): string;
  random(size: number): Buffer;
}
