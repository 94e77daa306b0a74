import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts';
import { type TestClock, testClock } from './clock.ts';
import { createFilesServer, FILES_ORIGIN, FILES_RESOURCE, OAUTH_MCP_PATTERN } from './files-server.ts';
import { browserFor, connectUser, makeLink, startLinkServer, submitLink } from './links.ts';
import { type ModernServer, startModernServer } from './mcp-upstream.ts';
import { createProvider } from './providers.ts';
import type { TestServer } from './server.ts';

/**
 * An MCP server of files, the authorization servers that it may use, and a Valetkey server whose users sign in to it.
 */
export interface FilesWorld {
  servers: AuthorizationServer[];
  upstream: ModernServer;
  server: TestServer;
  clock: TestClock;
  /** Sets the authorization servers that the MCP server names; it accepts tokens of the first one. */
  trust(first: AuthorizationServer, ...others: AuthorizationServer[]): void;
  /** Creates a provider for the MCP server. @returns its identifier */
  provider(url?: string, displayName?: string): Promise<string>;
  /** Opens a link of a connector and submits its form. */
  open(connector: string): ReturnType<typeof submitLink>;
  /** Connects an account of a user, from the link to the verification. @returns its id */
  connect(connector: string, user: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the servers; the MCP server uses the first authorization server.
 *
 * @param names of the authorization servers @param origins further origins of the same MCP server
 */
export async function startFilesWorld(names = ['as'], origins: readonly string[] = []): Promise<FilesWorld> {
  const clock = testClock(Date.now());
  const servers: AuthorizationServer[] = [];
  for (const name of names) servers.push(await startAuthorizationServer({ name, resource: FILES_RESOURCE }));
  const upstream = await startModernServer(createFilesServer);
  const overrides = [
    ...servers.map(({ override }) => override),
    ...[FILES_ORIGIN, ...origins].map((origin) => upstream.endpointOverride(origin)),
  ].join(',');
  const server = await startLinkServer({
    env: { VALETKEY_ENDPOINT_OVERRIDES: overrides },
    overrides: { now: clock.now },
  });
  const world: FilesWorld = {
    servers,
    upstream,
    server,
    clock,
    trust(first, ...others) {
      const authorization_servers = [first, ...others].map(({ issuer }) => issuer);
      upstream.metadata = { resource: FILES_RESOURCE, authorization_servers, scopes_supported: ['files:read'] };
      upstream.refuse = async (authorization = '') =>
        (await first.isAlive(authorization.replace('Bearer ', ''))) ? undefined : 401;
    },
    async provider(url = FILES_RESOURCE, displayName = 'Files') {
      const fields = { display_name: displayName, auth_patterns: [OAUTH_MCP_PATTERN], proxy_url: url };
      return (await createProvider(server, fields)).identifier;
    },
    open: async (connector) => submitLink(browserFor(...servers), await makeLink(server, { connector })),
    connect: async (connector, user) => (await connectUser(server, browserFor(...servers), connector, user)).id,
    async stop() {
      await server.stop();
      await upstream.stop();
      for (const one of servers) await one.stop();
    },
  };
  world.trust(servers[0] as AuthorizationServer);
  return world;
}
