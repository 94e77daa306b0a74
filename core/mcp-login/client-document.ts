import { LRUCache } from 'lru-cache';
import type { ClientAuthMethod, EnvironmentRow } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { Egress } from '../net/egress.ts';
import { EgressError } from '../net/egress-error.ts';
import { isRecord } from '../tools/pointer.ts';
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts';

export interface DocumentDeps {
  egressOf(environment: EnvironmentRow): Egress;
  /** Milliseconds UTC. */
  now(): number;
}

/** `busy`: too many documents are being fetched. The message is for the developer of the client. */
export type ReadDocument = { ok: true; metadata: ClientMetadata } | { ok: false; busy?: true; message: string };

/** Reads the documents that describe clients. */
export interface ClientDocuments {
  read(environment: EnvironmentRow, url: string, schemes: readonly string[]): Promise<ReadDocument>;
}

/** Whether a client ID is a URL, so that it names a metadata document. IDs of registered clients are not URLs. */
export function isDocumentUrl(clientId: string): boolean {
  return /^https?:/i.test(clientId);
}

/**
 * Reads OAuth Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document-00): the client ID is the
 * https URL of a document that contains the same ID. Documents are fetched with the rules for outbound calls, without
 * redirects. They are cached as long as their Cache-Control allows, within limits; failures are cached for the minimum
 * time.
 */
export function createClientDocuments({ egressOf, now }: DocumentDeps): ClientDocuments {
  const kept = new LRUCache<string, { read: ReadDocument; until: number }>({ max: MCP_LOGIN.documents });
  const underWay = new Map<string, Promise<ReadDocument>>();

  async function fetchDocument(environment: EnvironmentRow, url: string, schemes: readonly string[], key: string) {
    const { read, keptMs } = await fetchOnce(egressOf(environment), url, schemes);
    kept.set(key, { read, until: now() + keptMs });
    return read;
  }

  return {
    async read(environment, url, schemes) {
      const problem = addressProblem(url);
      if (problem) return { ok: false, message: `The client_id ${problem}.` };
      const key = JSON.stringify([environment.id, url, schemes]);
      const known = kept.get(key);
      if (known && known.until > now()) return known.read;
      const running = underWay.get(key);
      if (running) return running;
      if (underWay.size >= MCP_LOGIN.fetches)
        return {
          ok: false,
          busy: true,
          message: 'Too many client metadata documents are being fetched. Try again later.',
        };
      const fetching = fetchDocument(environment, url, schemes, key).finally(() => underWay.delete(key));
      underWay.set(key, fetching);
      return fetching;
    },
  };
}

/**
 * Returns why a client ID is not a valid document URL; undefined if it is. Only the normalized form of a URL is
 * accepted, because two spellings would be two clients (draft §3).
 */
function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || text.length > MCP_LOGIN.redirectUriChars)
    return `must be an https URL of at most ${MCP_LOGIN.redirectUriChars} characters`;
  if (url.username || url.password || text.includes('#')) return 'must have no user name, password or fragment';
  if (url.pathname === '/') return 'must have a path';
  if (url.href !== text || /%2e/i.test(url.pathname))
    return 'must be in its normalized form: host in lower case, no default port, no dot segments';
  return undefined;
}

async function fetchOnce(
  egress: Egress,
  url: string,
  schemes: readonly string[],
): Promise<{ read: ReadDocument; keptMs: number }> {
  const failed = (message: string) => ({ read: { ok: false as const, message }, keptMs: MCP_LOGIN.documentLeastMs });
  try {
    const { status, headers, body } = await egress.send({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      allowedOrigins: [new URL(url).origin],
      timeoutMs: MCP_LOGIN.documentMs,
      idleTimeoutMs: MCP_LOGIN.documentMs,
      maxBytes: MCP_LOGIN.documentBytes,
    });
    if (status !== 200)
      return failed(`The client metadata document was returned with status ${status}, but 200 is required.`);
    if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(String(headers['content-type'] ?? '')))
      return failed('The client metadata document is not JSON: its Content-Type must be application/json.');
    const read = readDocument(parse(body), url, schemes);
    return read.ok ? { read, keptMs: keptMs(String(headers['cache-control'] ?? '')) } : failed(read.message);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return failed(`The client metadata document could not be fetched: ${error.message}`);
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function readDocument(document: unknown, url: string, schemes: readonly string[]): ReadDocument {
  if (!isRecord(document) || document['client_id'] !== url)
    return {
      ok: false,
      message: 'The client metadata document must be a JSON object, and its client_id must be the URL of the document.',
    };
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    return {
      ok: false,
      message: 'The client metadata document must not contain a client_secret or client_secret_expires_at.',
    };
  const read = readClientMetadata(document, schemes, publicMethod);
  if (!read.ok) return { ok: false, message: `The client metadata document is invalid: ${read.description}.` };
  if (read.metadata.name === '') return { ok: false, message: 'The client metadata document has no client_name.' };
  return { ok: true, metadata: read.metadata };
}

/**
 * Returns the method `none` if the client supports it; otherwise undefined. A document is public, so its client has no
 * secret. A client that prefers `private_key_jwt` but also lists `none` uses `none`.
 */
function publicMethod(document: Record<string, unknown>): ClientAuthMethod | undefined {
  const { token_endpoint_auth_method: method = 'none', token_endpoint_auth_methods_supported: methods } = document;
  return method === 'none' || (Array.isArray(methods) && methods.includes('none')) ? 'none' : undefined;
}

/** Returns how many milliseconds a document is cached: what its Cache-Control (RFC 9111 §5.2) allows, within limits. */
function keptMs(cacheControl: string): number {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return MCP_LOGIN.documentLeastMs;
  const [, seconds] = /\bmax-age *= *"?(\d{1,9})/i.exec(cacheControl) ?? [];
  const asked = seconds === undefined ? MCP_LOGIN.documentKeptMs : Number(seconds) * 1000;
  return Math.min(Math.max(asked, MCP_LOGIN.documentLeastMs), MCP_LOGIN.documentMostMs);
}
