import type { CustomToolTools, JudgeTools } from '../discovery/custom-tools.ts';
import type { DiscoveryTools } from '../discovery/user-tools.ts';
import type { Events } from '../events/events.ts';
import type { Lists } from './lists.ts';

/** Tools: which there are, which a user can call, and those that an environment adds. */
export interface Tools extends Lists, DiscoveryTools, CustomToolTools, JudgeTools {
  events: Events;
}
