import { MCP_UPSTREAM } from '../../budgets.ts';
import { type BearerChallenge, readBearerChallenge } from '../../oauth/challenge.ts';
import { isTransportFailure, type ProtocolFetch } from '../../oauth/transport.ts';
import { programVersion } from '../../program-version.ts';

const client = { name: 'valetkey', version: programVersion() };
const REVISION = '2026-07-28';
const META = 'io.modelcontextprotocol';

/**
 * The handshake of the protocol revision 2025-11-25, and `tools/list` of the newer revision 2026-07-28. A server may
 * require a token for the list even if it accepts the handshake without one.
 */
const REQUESTS = [
  {
    body: {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client },
    },
    headers: {},
  },
  {
    body: {
      method: 'tools/list',
      params: {
        _meta: {
          [`${META}/protocolVersion`]: REVISION,
          [`${META}/clientInfo`]: client,
          [`${META}/clientCapabilities`]: {},
        },
      },
    },
    headers: { 'mcp-protocol-version': REVISION, 'mcp-method': 'tools/list' },
  },
].map(({ body, headers }) => ({ body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }), headers }));

/**
 * Sends a handshake without a token to an MCP server, and then `tools/list` if the response to the handshake is not
 * 401. The 401 response contains the address of the metadata and the scopes that the server requires (RFC 9728 §5.1).
 *
 * @returns undefined if the server rejects neither request with 401, if it cannot be reached, or if it takes too long;
 * an empty challenge if its 401 contains no parameters
 */
export async function askForChallenge(address: string, fetch: ProtocolFetch): Promise<BearerChallenge | undefined> {
  const signal = AbortSignal.timeout(MCP_UPSTREAM.challengeMs);
  try {
    for (const { body, headers } of REQUESTS) {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body,
        redirect: 'manual',
        signal,
      });
      await response.body?.cancel();
      if (response.status === 401) return readBearerChallenge(response.headers.get('www-authenticate')) ?? {};
    }
    return undefined;
  } catch (error) {
    // The caller can still try to read the server's metadata at its well-known address.
    if (isTransportFailure(error)) return undefined;
    throw error;
  }
}
