import type { TestServer } from './server.ts';
import { CLIENT_ID } from './server.ts';
import { firstEnvironment } from './tokens.ts';

/** The parts of a test client's request that distinguish it from others. */
export interface KeyedRequest {
  route: string;
  method: string;
  path: string;
  body?: unknown;
  /** The digest of another request's content. */
  requestDigest?: Buffer | undefined;
}

/** Claims an idempotency key, as a request does that is still running. */
export async function claimKey(server: TestServer, key: string, request: KeyedRequest): Promise<void> {
  const { digester, store, now } = server.parts;
  const { id } = await firstEnvironment(server);
  const { route, method, path, body = null } = request;
  const keyDigest = digester.digest('idempotency key', id, CLIENT_ID, route, key);
  const requestDigest =
    request.requestDigest ?? digester.digest('idempotent request', method, path, JSON.stringify(body));
  const times = { instance: server.parts.instance.number, createdAt: now(), expiresAt: now() + 60_000 };
  await store.write((tx) =>
    tx.idempotencyKeys.claim(id, { clientId: CLIENT_ID, route, keyDigest, requestDigest, ...times }),
  );
}
