import { MCP_UPSTREAM } from '../../budgets.ts';
import { type BearerChallenge, readBearerChallenge } from '../../oauth/challenge.ts';
import { isTransportFailure, type ProtocolFetch } from '../../oauth/transport.ts';
import { programVersion } from '../../program-version.ts';

const HANDSHAKE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'valetkey', version: programVersion() },
  },
});

/**
 * Sends a handshake without a token to an MCP server. Its 401 response says where its metadata is and which scopes it
 * requires (RFC 9728 §5.1).
 *
 * @returns undefined if the server does not reject the request or cannot be reached; an empty challenge if its 401
 * contains no parameters
 */
export async function askForChallenge(address: string, fetch: ProtocolFetch): Promise<BearerChallenge | undefined> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: HANDSHAKE,
      redirect: 'manual',
      signal: AbortSignal.timeout(MCP_UPSTREAM.challengeMs),
    });
    await response.body?.cancel();
    return response.status === 401 ? (readBearerChallenge(response.headers.get('www-authenticate')) ?? {}) : undefined;
  } catch (error) {
    // The server's metadata may be readable nevertheless.
    if (isTransportFailure(error)) return undefined;
    throw error;
  }
}
