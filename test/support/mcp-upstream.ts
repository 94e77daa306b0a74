import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { McpServer } from '@modelcontextprotocol/server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { freePort } from '../../scripts/demo/process.ts';

const EVERYTHING = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

/** A third-party MCP server. */
export interface McpUpstream {
  /** Returns the value of VALETKEY_ENDPOINT_OVERRIDES that directs an https origin here. */
  endpointOverride(origin: string): string;
  stop(): Promise<void>;
}

/** Starts the protocol's reference server, which uses the older revision, in a separate process. */
export async function startEverything(): Promise<McpUpstream> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    const seen = (data: Buffer) => /listening|running/i.test(String(data)) && resolve();
    child.stdout?.on('data', seen);
    child.stderr?.on('data', seen);
    child.once('exit', (code) => reject(new Error(`server-everything ended with ${code}`)));
  });
  return {
    endpointOverride: (origin) => `${origin}=http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

/** A request as the server received it. */
export interface UpstreamSeen {
  authorization: string | undefined;
  path: string;
  protocol: string | undefined;
}

export interface ModernServer extends McpUpstream {
  /** The real address, with plain http. */
  origin: string;
  seen: UpstreamSeen[];
  /** Returns the status with which a request is rejected; undefined to accept the request. */
  refuse(authorization: string | undefined): number | undefined | Promise<number | undefined>;
  /** The headers of a rejection. */
  refuseWith: Record<string, string>;
  /** The metadata of the protected resource (RFC 9728). */
  metadata: object | undefined;
  /** The only path with the metadata; undefined for all well-known paths. */
  metadataPath: string | undefined;
  /**
   * Called with each request before the MCP server handles it, so that a test can respond itself. @returns false to let
   * the server handle the request
   */
  on(req: IncomingMessage, res: ServerResponse): boolean | Promise<boolean>;
}

/** Starts a server of the newer revision in this process; the test provides its tools. */
export async function startModernServer(factory: () => McpServer): Promise<ModernServer> {
  const handler = toNodeHandler(createMcpHandler(factory, { legacy: 'reject' }));
  const server = createServer(async (req, res) => {
    const { authorization } = req.headers;
    if (await upstream.on(req, res)) return;
    const { metadata, metadataPath: path } = upstream;
    if (path === undefined ? req.url?.startsWith('/.well-known/') : req.url !== '/mcp') {
      res.writeHead(metadata && (path === undefined || req.url === path) ? 200 : 404, {
        'content-type': 'application/json',
      });
      res.end(JSON.stringify(metadata ?? {}));
      return;
    }
    const protocol = req.headers['mcp-protocol-version'] as string | undefined;
    upstream.seen.push({ authorization, path: req.url ?? '', protocol });
    const status = await upstream.refuse(authorization);
    if (status === undefined) await handler(req, res as never);
    else res.writeHead(status, upstream.refuseWith).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: ModernServer = {
    origin: `http://127.0.0.1:${port}`,
    seen: [],
    refuse: () => undefined,
    refuseWith: {},
    metadata: undefined,
    metadataPath: undefined,
    on: () => false,
    endpointOverride: (origin: string) => `${origin}=http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}
