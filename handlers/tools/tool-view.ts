import { ApiError } from '../../core/errors.ts';
import type { ToolView } from '../../core/present/tool.ts';

/** @throws ApiError VALIDATION_FAILED for `strict` with a format that does not support it */
export function readToolView({
  format = 'native',
  detail = 'compact',
  strict = false,
}: {
  [Key in keyof ToolView]?: ToolView[Key] | undefined;
}): ToolView {
  if (strict && format !== 'openai') {
    throw new ApiError('VALIDATION_FAILED', 'Only format=openai supports strict.', {
      errors: [{ field: 'strict', message: 'needs format=openai' }],
    });
  }
  return { format, detail, strict };
}
