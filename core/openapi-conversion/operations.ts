import { isRecord } from '../tools/pointer.ts';
import type { Resolver } from './resolve.ts';

type Data = Record<string, unknown>;

/** One operation of a document; nothing in it has been checked. */
export interface Operation {
  /** Upper case. */
  method: string;
  /** As in the document. */
  path: string;
  data: Data;
  item: Data;
  /** Method and path. They identify the operation in later imports, so that its tool keeps its name. */
  sourceId: string;
  operationId?: string;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Lists the operations of a document: the paths in the document's order, the methods of each path as in `METHODS`. */
export function listOperations(document: Data, resolve: Resolver): Operation[] {
  const paths = isRecord(document['paths']) ? document['paths'] : {};
  return Object.entries(paths).flatMap(([path, node]) => {
    const item = path.startsWith('x-') ? undefined : resolve(node);
    if (!item) return [];
    return METHODS.filter((method) => isRecord(item[method])).map((name) => {
      const data = item[name] as Data;
      const method = name.toUpperCase();
      const operationId =
        typeof data['operationId'] === 'string' && data['operationId'] !== '' ? data['operationId'] : undefined;
      return {
        method,
        path,
        data,
        item,
        sourceId: `${method} ${path}`,
        ...(operationId !== undefined && { operationId }),
      };
    });
  });
}

/** Returns the members of an extension of an operation; empty if it is missing or not an object. */
export function extension(data: Data, name: string): Data {
  return isRecord(data[name]) ? data[name] : {};
}
