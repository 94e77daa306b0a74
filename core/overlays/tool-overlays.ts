import type {
  EnvironmentId,
  NewToolOverlay,
  ReadRepositories,
  Repositories,
  ToolOverlayRow,
  ToolOverlaySettings,
} from '../../db/store.ts';
import { UniqueError } from '../../db/store.ts';
import { STORED } from '../budgets.ts';
import type { KnownTool, ToolDirectory } from '../discovery/directory.ts';
import { ApiError, type FieldError, requireFound } from '../errors.ts';
import { RAW_CALL } from '../tools/tool.ts';
import { applyOverlay } from './apply-overlay.ts';
import { type CheckOverlayDeps, checkOverlay } from './check-overlay.ts';
import { toolDigest } from './tool-digest.ts';

export interface OverlayDeps extends CheckOverlayDeps {
  toolDirectory: Pick<ToolDirectory, 'bare' | 'fitOf'>;
  now(): number;
}

/** The fields of a request for an overlay. */
export interface OverlayInput {
  hidden?: boolean | undefined;
  new_name?: string | null | undefined;
  title?: string | null | undefined;
  added_description?: string | null | undefined;
  preset_inputs?: Record<string, unknown> | undefined;
  allowed_values?: Record<string, unknown[]> | undefined;
}

/** An overlay that fits its tool, to be stored. */
export interface CheckedOverlay {
  newName: string | null;
  settings: ToolOverlaySettings;
  toolDigest: string;
}

/**
 * Checks an overlay before the transaction that stores it.
 *
 * @throws ApiError NOT_FOUND for an unknown tool; VALIDATION_FAILED
 */
export async function readOverlay(
  read: ReadRepositories,
  deps: OverlayDeps,
  environmentId: EnvironmentId,
  toolName: string,
  input: OverlayInput,
): Promise<CheckedOverlay> {
  const { tool } = await requireTool(read, deps, environmentId, toolName);
  const { newName, settings } = settingsOf(input);
  refuse([...checkEffect(newName, settings), ...checkName(toolName, newName), ...checkTexts(settings)]);
  refuse(await checkOverlay(deps, environmentId, tool, settings));
  return { newName, settings, toolDigest: toolDigest(tool) };
}

/**
 * Returns a tool without an overlay (`own`), and the tool that callers would see with the given overlay (`shown`).
 *
 * @param input may be an overlay that changes nothing
 * @returns `shown` is undefined if the overlay hides the tool
 * @throws ApiError as `readOverlay` and `setOverlay`, except SERVER_BUSY
 */
export async function previewOverlay(
  read: ReadRepositories,
  deps: OverlayDeps,
  environmentId: EnvironmentId,
  toolName: string,
  input: OverlayInput,
): Promise<{ own: KnownTool; shown: KnownTool | undefined }> {
  const own = await requireTool(read, deps, environmentId, toolName);
  const { newName, settings } = settingsOf(input);
  refuse([...checkName(toolName, newName), ...checkTexts(settings)]);
  refuse(await checkOverlay(deps, environmentId, own.tool, settings));
  const others = await requireFree(read, deps, environmentId, toolName, newName);
  requireSpace(others, settings);
  const tool = applyOverlay(own.tool, { newName, settings });
  return { own, shown: settings.hidden ? undefined : { ...own, tool } };
}

function settingsOf(input: OverlayInput): { newName: string | null; settings: ToolOverlaySettings } {
  return {
    newName: input.new_name ?? null,
    settings: {
      hidden: input.hidden ?? false,
      title: input.title ?? null,
      addedDescription: input.added_description ?? null,
      presetInputs: input.preset_inputs ?? {},
      allowedValues: input.allowed_values ?? {},
    },
  };
}

/**
 * Stores an overlay in place of the tool's current one.
 *
 * @param checked from `readOverlay`
 * @throws ApiError NOT_FOUND; SERVER_BUSY if the tool was changed after the check; TOOL_EXISTS for a name that is in
 * use; VALIDATION_FAILED if the overlay is too large, or the environment has reached its limit of overlays
 */
export async function setOverlay(
  tx: Repositories,
  deps: OverlayDeps,
  environmentId: EnvironmentId,
  toolName: string,
  { newName, settings, toolDigest: digest }: CheckedOverlay,
): Promise<ToolOverlayRow> {
  const { tool } = await requireTool(tx, deps, environmentId, toolName);
  if (toolDigest(tool) !== digest) {
    throw new ApiError('SERVER_BUSY', 'The tool was changed while its overlay was checked. Try again.');
  }
  const others = await requireFree(tx, deps, environmentId, toolName, newName);
  requireSpace(others, settings);
  const present = await tx.toolOverlays.get(environmentId, toolName);
  const at = deps.now();
  const createdAt = present?.createdAt ?? at;
  const overlay: NewToolOverlay = { toolName, newName, settings, toolDigest: digest, createdAt, updatedAt: at };
  try {
    await tx.toolOverlays.set(environmentId, overlay);
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    throw nameTaken(newName);
  }
  await tx.environmentTools.touch(environmentId);
  return { ...overlay, environmentId };
}

/** @returns the overlay before the deletion. @throws ApiError NOT_FOUND */
export async function deleteOverlay(
  tx: Repositories,
  environmentId: EnvironmentId,
  toolName: string,
): Promise<ToolOverlayRow> {
  const overlay = await requireOverlay(tx, environmentId, toolName);
  await tx.toolOverlays.delete(environmentId, toolName);
  await tx.environmentTools.touch(environmentId);
  return overlay;
}

/** @throws ApiError NOT_FOUND */
export async function requireOverlay(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  toolName: string,
): Promise<ToolOverlayRow> {
  return requireFound(await read.toolOverlays.get(environmentId, toolName), `The overlay of the tool ${toolName}`);
}

async function requireTool(
  read: ReadRepositories,
  { toolDirectory }: OverlayDeps,
  environmentId: EnvironmentId,
  toolName: string,
): Promise<KnownTool> {
  return requireFound(await toolDirectory.bare(read, environmentId, toolName), `The tool ${toolName}`);
}

/** @returns the overlays of other tools. @throws ApiError TOOL_EXISTS if another tool has the name */
async function requireFree(
  read: ReadRepositories,
  { toolDirectory }: OverlayDeps,
  environmentId: EnvironmentId,
  toolName: string,
  newName: string | null,
): Promise<ToolOverlayRow[]> {
  const others = (await read.toolOverlays.list(environmentId)).filter((row) => row.toolName !== toolName);
  if (newName === null) return others;
  const isTaken = others.some((row) => row.newName === newName);
  if (isTaken || (await toolDirectory.bare(read, environmentId, newName))) throw nameTaken(newName);
  return others;
}

function checkName(toolName: string, newName: string | null): FieldError[] {
  if (newName === toolName)
    return [{ field: 'new_name', message: 'is already the name of the tool; omit it to keep the name' }];
  if (newName === RAW_CALL) return [{ field: 'new_name', message: 'is reserved for raw calls' }];
  return [];
}

function checkEffect(newName: string | null, settings: ToolOverlaySettings): FieldError[] {
  const { hidden, title, addedDescription, presetInputs, allowedValues } = settings;
  const changes = hidden || newName !== null || title !== null || addedDescription !== null;
  if (changes || Object.keys(presetInputs).length + Object.keys(allowedValues).length > 0) return [];
  return [{ field: 'body', message: 'must change something; delete the overlay to show the tool as it is' }];
}

const CONTROL = /[\p{Cc}\p{Cf}]/u;

/** Rejects invisible characters, because they could hide instructions to a model from operators. */
function checkTexts({ title, addedDescription }: ToolOverlaySettings): FieldError[] {
  return Object.entries({ title, added_description: addedDescription }).flatMap(([field, text]) =>
    text !== null && CONTROL.test(text) ? [{ field, message: 'must not contain invisible characters' }] : [],
  );
}

function requireSpace(others: readonly ToolOverlayRow[], settings: ToolOverlaySettings): void {
  const bytes = sizeOf(settings);
  if (bytes > STORED.toolOverlayBytes) {
    refuse([{ field: 'body', message: `must have at most ${STORED.toolOverlayBytes} bytes as JSON` }]);
  }
  const total = others.reduce((sum, row) => sum + sizeOf(row.settings), bytes);
  if (others.length < STORED.toolOverlays && total <= STORED.toolOverlaysBytes) return;
  const limits = `${STORED.toolOverlays} overlays and ${STORED.toolOverlaysBytes} bytes of them`;
  throw new ApiError(
    'VALIDATION_FAILED',
    `The environment has no space for the overlay: it can have at most ${limits}. Delete some that are not used.`,
  );
}

function sizeOf(settings: ToolOverlaySettings): number {
  return Buffer.byteLength(JSON.stringify(settings));
}

function nameTaken(name: string | null): ApiError {
  return new ApiError('TOOL_EXISTS', `The environment already has a tool ${name}. Choose another new_name.`);
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw new ApiError('VALIDATION_FAILED', 'The overlay is invalid for this tool.', { errors: errors.slice(0, 20) });
}
