import { LRUCache } from 'lru-cache';
import type {
  EnvironmentId,
  EnvironmentToolRow,
  ReadRepositories,
  ToolOverlayRow,
  ToolSource,
} from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { applyOverlay, restrictsInputs } from '../overlays/apply-overlay.ts';
import { toolDigest } from '../overlays/tool-digest.ts';
import type { Tool } from '../tools/tool.ts';
import type { OwnTools } from './own-tools.ts';

/** A tool of an environment, with its origin. */
export interface KnownTool {
  tool: Tool;
  source: 'catalogue' | ToolSource;
  /** Why the tool may not be run until an operator has reviewed it; null if it may be run. */
  flagged: string | null;
  /** Whether an overlay sets the title; the language of such a title is unknown. */
  isRetitled?: boolean;
  /**
   * A sentence that says why the tool, or this name of it, cannot be used because of an overlay. Such a tool is neither
   * listed nor run.
   */
  withheld?: string;
  /** Only for tools that the environment added: the hash of the stored definition. */
  contentHash?: string;
  /** Only for tools that the environment added: a text that changes with the definition and the overlay of the tool. */
  inputHash?: string;
}

/** Whether an overlay fits its tool. */
export interface OverlayFit {
  status: 'ACTIVE' | 'TOOL_CHANGED' | 'TOOL_MISSING' | 'NAME_TAKEN';
  /** A sentence; null for `ACTIVE`. */
  reason: string | null;
}

/** Tools as the overlays of their environment show them. */
export interface OverlaidDeps {
  /**
   * Returns a tool by its current name. The original name of a tool that an overlay renamed returns the tool with
   * `withheld` set.
   */
  find(read: ReadRepositories, environmentId: EnvironmentId, name: string): Promise<KnownTool | undefined>;
  /** Returns a tool without its overlay, by its own name. */
  bare(read: ReadRepositories, environmentId: EnvironmentId, name: string): Promise<KnownTool | undefined>;
  /** Returns the tool of an overlay with the overlay applied; undefined if there is no such tool. */
  overlaid(read: ReadRepositories, overlay: ToolOverlayRow): Promise<KnownTool | undefined>;
  fitOf(read: ReadRepositories, overlay: ToolOverlayRow): Promise<OverlayFit>;
}

const CHANGED = 'Its inputs or its request have changed since its overlay was set.';

/** @param capacity the maximum number of tools with overlays that are cached */
export function createOverlaidTools(catalogue: Catalogue, ownTools: OwnTools, capacity = 500): OverlaidDeps {
  // Other modules cache compiled schemas and parsed templates per tool object, so equal overlays of a tool must return
  // the same object.
  const applied = new LRUCache<string, Tool>({ max: capacity });
  const numbers = new WeakMap<Tool, number>();
  const digests = new WeakMap<Tool, string>();
  let count = 0;

  function apply(tool: Tool, overlay: ToolOverlayRow): Tool {
    const number = numbers.get(tool) ?? ++count;
    numbers.set(tool, number);
    const key = JSON.stringify([number, overlay.newName, overlay.settings]);
    const known = applied.get(key) ?? applyOverlay(tool, overlay);
    applied.set(key, known);
    return known;
  }

  function digestOf(tool: Tool): string {
    const digest = digests.get(tool) ?? toolDigest(tool);
    digests.set(tool, digest);
    return digest;
  }

  const own = (row: EnvironmentToolRow): KnownTool => ({
    tool: ownTools.parse(row),
    source: row.source,
    flagged: row.flagged,
    contentHash: row.contentHash,
    inputHash: row.contentHash,
  });

  function builtIn(name: string): KnownTool | undefined {
    const tool = catalogue.tool(name);
    return tool && { tool, source: 'catalogue', flagged: null };
  }

  async function bare(
    read: ReadRepositories,
    environmentId: EnvironmentId,
    name: string,
  ): Promise<KnownTool | undefined> {
    const known = builtIn(name);
    if (known) return known;
    const row = await read.environmentTools.get(environmentId, name);
    return row && own(row);
  }

  async function fitOf(
    read: ReadRepositories,
    overlay: ToolOverlayRow,
    known: KnownTool | undefined,
  ): Promise<OverlayFit> {
    const { toolName, newName } = overlay;
    if (!known) return { status: 'TOOL_MISSING', reason: `There is no tool ${toolName}.` };
    if (restrictsInputs(overlay) && digestOf(known.tool) !== overlay.toolDigest) {
      return { status: 'TOOL_CHANGED', reason: CHANGED };
    }
    if (newName !== null && (await bare(read, overlay.environmentId, newName))) {
      return { status: 'NAME_TAKEN', reason: `There is another tool ${newName}.` };
    }
    return { status: 'ACTIVE', reason: null };
  }

  async function withOverlay(read: ReadRepositories, known: KnownTool, overlay: ToolOverlayRow): Promise<KnownTool> {
    const { toolName, settings, updatedAt } = overlay;
    const { reason } = await fitOf(read, overlay, known);
    return {
      ...known,
      tool: apply(known.tool, overlay),
      flagged: known.flagged ?? reason,
      isRetitled: settings.title !== null,
      ...(known.inputHash !== undefined && { inputHash: `${known.inputHash} ${updatedAt}` }),
      ...(settings.hidden && { withheld: `An overlay of this environment hides the tool ${toolName}.` }),
    };
  }

  return {
    bare,
    async find(read, environmentId, name) {
      const known = builtIn(name) ?? (await bare(read, environmentId, name));
      const overlays = await read.toolOverlays.named(environmentId, name);
      if (known) {
        const overlay = overlays.find(({ toolName }) => toolName === name);
        if (!overlay) return known;
        const shown = await withOverlay(read, known, overlay);
        if (overlay.newName === null || shown.withheld !== undefined) return shown;
        return { ...shown, withheld: `This environment has renamed the tool ${name} to ${overlay.newName}.` };
      }
      const renaming = overlays.find(({ newName }) => newName === name);
      const renamed = renaming && (await bare(read, environmentId, renaming.toolName));
      return renamed && withOverlay(read, renamed, renaming);
    },
    async overlaid(read, overlay) {
      const known = await bare(read, overlay.environmentId, overlay.toolName);
      return known && withOverlay(read, known, overlay);
    },
    async fitOf(read, overlay) {
      return fitOf(read, overlay, await bare(read, overlay.environmentId, overlay.toolName));
    },
  };
}
