import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';
import { rsaPair } from './rsa-pair.ts';

/** An external authorization server: its metadata, its keys, and tokens as it signs them. */
export interface JwtIssuer {
  issuer: string;
  override: string;
  /** The number of requests for its keys. */
  keyRequests(): number;
  /** Replaces the signing key by one with another id. */
  rotate(): void;
  /** Makes requests for keys and metadata fail, or succeed again. */
  setDown(down: boolean): void;
  /** Signs an access token; claims that are undefined are left out. */
  token(claims: Record<string, unknown>, header?: Record<string, unknown>): string;
  stop(): Promise<void>;
}

/** Starts the server on loopback. @param now the time in milliseconds UTC, for the tokens */
export async function startJwtIssuer(now: () => number, issuer = 'https://login.example'): Promise<JwtIssuer> {
  let [kid, requests, isDown] = [1, 0, false];
  const keyOf = (id: number) => rsaPair(`${issuer} ${id}`);
  const server = createServer((req, res) => {
    const isKeys = req.url === '/jwks';
    if (isKeys) requests++;
    if (isDown) return void req.socket.destroy();
    const jwk = { ...keyOf(kid).publicKey.export({ format: 'jwk' }), kid: `key-${kid}`, use: 'sig' };
    const metadata = { issuer, jwks_uri: `${issuer}/jwks` };
    if (!isKeys && req.url !== '/.well-known/oauth-authorization-server') return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(isKeys ? { keys: [jwk] } : metadata));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    issuer,
    override: `${issuer}=http://127.0.0.1:${port}`,
    keyRequests: () => requests,
    rotate: () => void kid++,
    setDown: (down) => {
      isDown = down;
    },
    token(claims, header = {}) {
      const at = Math.floor(now() / 1000);
      const usual = { iss: issuer, sub: 'ada', iat: at, exp: at + 600, jti: 'token-1', client_id: 'claude' };
      const payload = JSON.parse(JSON.stringify({ ...usual, ...claims }));
      const { privateKey } = keyOf(kid);
      const options = {
        algorithm: 'RS256',
        header: { alg: 'RS256', typ: 'at+jwt', kid: `key-${kid}`, ...header },
      } as const;
      return jwt.sign(payload, privateKey, options);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
