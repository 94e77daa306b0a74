import type { Express, RequestHandler } from 'express';
import { ApiError } from '../../core/errors.ts';
import { createStaticDocument, type StaticDocument, type StaticDocumentOptions } from '../responses/static-document.ts';
import { otherMethods, route } from './express-entry-point.ts';

export const HTML = 'text/html; charset=utf-8';

export interface DocumentSource {
  content: string | Buffer;
  options: StaticDocumentOptions;
}

type FindDocument = (name: string) => StaticDocument | undefined | Promise<StaticDocument | undefined>;

/** Adds the route of a document to an express application. The document is read only once, at its first request. */
export type Serve = (path: string, read: () => string | Buffer, options: StaticDocumentOptions) => void;

export function documentsOf(app: Express): Serve {
  return (path, read, options) => {
    const find = lazyDocuments(() => ({ content: read(), options }));
    app.route(path).get(documentRoute(find)).all(otherMethods('GET', 'HEAD'));
  };
}

/** Returns a route that serves the document with the name in the path parameter `name`. */
export function documentRoute(find: FindDocument): RequestHandler {
  return route(async ({ req, res, requestId }, { name = '' }) => {
    const document = await find(name);
    if (!document) throw new ApiError('NOT_FOUND', 'The page does not exist.');
    res.setHeader('x-request-id', requestId);
    await document(req, res);
    return res.statusCode;
  });
}

/** Creates each document at its first request, and caches it. @param make returns undefined for an unknown name */
export function lazyDocuments(
  make: (name: string) => DocumentSource | undefined | Promise<DocumentSource | undefined>,
): (name: string) => Promise<StaticDocument | undefined> {
  const made = new Map<string, StaticDocument>();
  return async (name) => {
    const known = made.get(name);
    if (known) return known;
    const source = await make(name);
    if (!source) return undefined;
    const document = made.get(name) ?? createStaticDocument(source.content, source.options);
    made.set(name, document);
    return document;
  };
}
