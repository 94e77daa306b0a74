import type { ClientChangeTools } from '../connections/client-change.ts';
import type { ConfigurationTools } from '../connections/configure.ts';
import type { Events } from '../events/events.ts';
import type { Lists } from './lists.ts';

/** Connections: providers as an environment has set them up. */
export type Connections = Lists &
  ConfigurationTools &
  ClientChangeTools & {
    events: Events;
  };
