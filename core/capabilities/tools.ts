import type { CustomToolDeps, ToolValidationDeps } from '../discovery/custom-tools.ts';
import type { ToolDirectory } from '../discovery/directory.ts';
import type { DiscoveryDeps } from '../discovery/user-tools.ts';
import type { Events } from '../events/events.ts';
import type { OverlayDeps } from '../overlays/tool-overlays.ts';
import type { Lists } from './lists.ts';

/**
 * The dependencies of the API operations on tools: on all tools, the tools that a user can call, custom tools, and tool
 * overlays.
 */
export interface Tools extends Lists, DiscoveryDeps, CustomToolDeps, ToolValidationDeps, OverlayDeps {
  toolDirectory: ToolDirectory;
  events: Events;
}
