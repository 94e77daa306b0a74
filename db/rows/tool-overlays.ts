import type { EnvironmentId } from '../environment-id.ts';

/** How an environment shows and restricts a tool. */
export interface ToolOverlaySettings {
  hidden: boolean;
  title: string | null;
  /** Appended to the description of the tool. */
  addedDescription: string | null;
  /** The values of inputs that callers cannot set. */
  presetInputs: Record<string, unknown>;
  /** The only values that inputs accept. */
  allowedValues: Record<string, unknown[]>;
}

export interface ToolOverlayRow {
  environmentId: EnvironmentId;
  /** The tool's own name. */
  toolName: string;
  /** The name of the tool in the environment; null: its own. */
  newName: string | null;
  settings: ToolOverlaySettings;
  /** The digest of the inputs and the request of the tool that the overlay was made for. */
  toolDigest: string;
  /** Milliseconds UTC. */
  createdAt: number;
  updatedAt: number;
}

export type NewToolOverlay = Omit<ToolOverlayRow, 'environmentId'>;
