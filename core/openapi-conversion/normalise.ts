import { convertObj } from 'swagger2openapi';
import { importError } from './import-error.ts';

/**
 * Converts an OpenAPI 2.0 document to 3.0. A document of version 3.0, 3.1 or 3.2 is returned unchanged: the differences
 * between the schemas of these versions are handled where schemas are read (schema-dialect.ts).
 *
 * @throws ApiError INVALID_DOCUMENT for other versions, and for a 2.0 document that cannot be converted
 */
export async function normalise(document: Record<string, unknown>): Promise<Record<string, unknown>> {
  const version = String(document['openapi'] ?? document['swagger']);
  if (/^3\.[0-2](\.|$)/.test(version) && document['openapi'] !== undefined) return document;
  if (!/^2(\.0)?$/.test(version))
    throw importError('files', `are of version ${version.slice(0, 20)}; supported are 2.0, 3.0, 3.1 and 3.2`);
  try {
    const { openapi } = await convertObj(document, { patch: true, warnOnly: true, resolve: false });
    return openapi;
  } catch (error) {
    throw importError(
      'files',
      `cannot be converted from 2.0: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}
