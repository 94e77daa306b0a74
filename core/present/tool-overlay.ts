import type { ToolOverlayRow } from '../../db/store.ts';
import type { OverlayFit } from '../discovery/overlaid-tools.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentToolOverlay(row: ToolOverlayRow, { status, reason }: OverlayFit): Schemas['ToolOverlay'] {
  const { hidden, title, addedDescription, presetInputs, allowedValues } = row.settings;
  return {
    tool_name: row.toolName,
    hidden,
    new_name: row.newName,
    title,
    added_description: addedDescription,
    preset_inputs: presetInputs,
    allowed_values: allowedValues,
    status,
    status_reason: reason,
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}
