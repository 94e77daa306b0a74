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
 * Sends an MCP server a handshake without a token, to read in its 401 where its metadata are and which scopes it wants (RFC 9728 §5.1).
 *
 * @returns undefined when the server does not refuse the request or cannot be reached; an empty challenge when its 401 says nothing
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
    // Its metadata may be readable all the same.
    if (isTransportFailure(error)) return undefined;
    throw error;
  }
}
