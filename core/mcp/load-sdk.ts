import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Loads the part of the MCP SDK that implements servers, at the first use, because most deployments only serve the REST
 * API. Node evaluates a module with all its imports in one turn of the event loop. For these packages, such a turn
 * takes 70 ms, in which no other request is handled. So the largest parts are loaded first, in separate turns.
 */
export async function loadServerSdk() {
  await loadZod();
  await import('@modelcontextprotocol/server/validators/ajv');
  await nextTurn();
  const sdk = await import('@modelcontextprotocol/server');
  await nextTurn();
  return sdk;
}

let clientSdk: ReturnType<typeof importClientSdk> | undefined;

/** Loads the part of the MCP SDK that implements clients, at the first use: only third-party MCP servers need it. */
export function loadClientSdk() {
  clientSdk ??= importClientSdk();
  return clientSdk;
}

async function importClientSdk() {
  await loadZod();
  const sdk = await import('@modelcontextprotocol/client');
  await nextTurn();
  return sdk;
}

/** Loads Zod first, because it takes half of the load time of the server package and of the client package. */
async function loadZod(): Promise<void> {
  await import('zod/v4');
  await nextTurn();
}
