import { type ImportRequest, type ImportResult, importDocument } from './import-document.ts';

/** Imports a document, inside the thread. */
export const run = (request: ImportRequest): Promise<ImportResult> => importDocument(request);
