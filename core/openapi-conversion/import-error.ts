import { ApiError } from '../errors.ts';

/**
 * Creates the error for a document, an overlay or an option that cannot be imported. Problems of a single operation are
 * not errors; they are in the report.
 *
 * @param field the invalid field of the request: `files`, `overlays[0]`, `base_url`
 * @param message the rest of a sentence whose subject is the field
 */
export function importError(field: string, message: string, cause?: unknown): ApiError {
  return new ApiError('INVALID_DOCUMENT', `${field} ${message}`, { errors: [{ field, message }], cause });
}
