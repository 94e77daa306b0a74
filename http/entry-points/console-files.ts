import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { ApiError } from '../../core/errors.ts';
import { CONSOLE_PATH } from '../../core/operators/console-address.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { createStaticDocument, type StaticDocument } from '../responses/static-document.ts';
import { FIXED_HEADERS } from '../responses/write.ts';

export interface ConsoleFiles {
  /**
   * Serves a file below `/assets/`, or the page of the console for any other path.
   *
   * @throws ApiError METHOD_NOT_ALLOWED; NOT_FOUND if the file does not exist or the console was not built
   */
  serve(exchange: Exchange, path: string): Promise<number>;
}

const FOLDER = join(import.meta.dirname, '../../build/console');
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Allows only the scripts and styles of the build, no other hosts and no frames. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the files that `make console` has built. They are read at the first request. @param folder the folder of the
 * build
 */
export function createConsoleFiles(folder: string = FOLDER): ConsoleFiles {
  let files: ReturnType<typeof readFiles> | undefined;
  return {
    async serve(exchange, path) {
      const { req, res, requestId } = exchange;
      if (req.method !== 'GET' && req.method !== 'HEAD') {
        exchange.responseHeaders['allow'] = 'GET, HEAD';
        throw new ApiError('METHOD_NOT_ALLOWED', 'The path does not support this method (supported: GET, HEAD).');
      }
      files ??= readFiles(folder);
      if (!files)
        throw new ApiError('NOT_FOUND', 'The console was not built. Run `make console`, and start the server again.');
      const asset = path.startsWith('/assets/') ? files.assets.get(path.slice('/assets/'.length)) : files.page;
      if (!asset) throw new ApiError('NOT_FOUND', 'The file does not exist.');
      res.setHeaders(
        new Map(
          Object.entries({
            ...FIXED_HEADERS,
            'content-security-policy': POLICY,
            'cross-origin-opener-policy': 'same-origin',
            'cross-origin-resource-policy': 'same-origin',
            'x-frame-options': 'DENY',
            'x-request-id': requestId,
          }),
        ),
      );
      await asset(req, res);
      return res.statusCode;
    },
  };
}

function readFiles(folder: string): { page: StaticDocument; assets: Map<string, StaticDocument> } | undefined {
  const page = join(folder, 'index.html');
  if (!existsSync(page)) return undefined;
  const names = readdirSync(join(folder, 'assets')).filter((name) => Object.hasOwn(TYPES, extname(name)));
  const assets = names.map((name): [string, StaticDocument] => {
    const file = join(folder, 'assets', name);
    const compressed = { br: readFileSync(`${file}.br`), gzip: readFileSync(`${file}.gz`) };
    const type = TYPES[extname(name)] as string;
    return [name, createStaticDocument(readFileSync(file), { type, isImmutable: true, compressed })];
  });
  return {
    page: createStaticDocument(readFileSync(page), { type: 'text/html; charset=utf-8' }),
    assets: new Map(assets),
  };
}

/** Whether a request is for the console. */
export function isConsole(path = '/'): boolean {
  return path === CONSOLE_PATH || /^\/console[/?]/.test(path);
}
