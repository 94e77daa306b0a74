import type { Server } from 'node:http';
import { createServer, request } from 'node:http';

/**
 * A proxy between browsers and the server, in place of name resolution and TLS. It replaces the origin `known` in
 * redirects by `target`, and passes on everything else unchanged.
 *
 * @param port of the server, on loopback
 */
export function createFrontDoor(port: number, { known, target }: { known: string; target: string }): Server {
  return createServer((req, res) => {
    const { method, url: path, headers } = req;
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      const { location } = answer.headers;
      const moved = location?.startsWith(`${known}/`) ? `${target}${location.slice(known.length)}` : location;
      res.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...(moved !== undefined && { location: moved }) });
      answer.pipe(res);
    });
    onward.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    req.pipe(onward);
  });
}
