import { type ImportRequest, type ImportResult, importDocument } from './import-document.ts';

/** The work of `importJob`, in its thread. */
export const run = (request: ImportRequest): Promise<ImportResult> => importDocument(request);
