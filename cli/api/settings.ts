import { isLoopbackHost, targetOf } from '../../core/net/target.ts';
import { Secret } from '../../core/secret.ts';
import { note } from '../output/print.ts';
import { UsageError } from '../usage-error.ts';

/** Where requests are sent, and with which credential. */
export interface ApiSettings {
  origin: string;
  /** An access token; or the id and secret of an API client, with which an access token is requested. */
  credential: { token: Secret } | { id: string; secret: Secret };
}

/**
 * Reads how to reach a server from environment variables.
 *
 * @param server overrides `VALETKEY_URL`
 * @throws UsageError naming the variable
 */
export function readApiSettings(env: NodeJS.ProcessEnv, server?: string): ApiSettings {
  const { VALETKEY_TOKEN: token, VALETKEY_CLIENT_ID: id, VALETKEY_CLIENT_SECRET: secret } = env;
  const origin = readOrigin(env, server);
  if (isOpen(origin)) note`Warning: requests to ${origin} are not encrypted; others can read the credential.`;
  if (token) return { origin, credential: { token: new Secret(token) } };
  if (id && secret) return { origin, credential: { id, secret: new Secret(secret) } };
  throw new UsageError(
    'set VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET to those of an API client, or VALETKEY_TOKEN to an access token; --env-file reads them from a file',
  );
}

/** Whether requests leave this machine without encryption. */
function isOpen(origin: string): boolean {
  const { tls, hostname } = targetOf(new URL(origin));
  return !tls && !isLoopbackHost(hostname);
}

/** Whether the environment variables have a credential. */
export function hasCredential({
  VALETKEY_TOKEN,
  VALETKEY_CLIENT_ID,
  VALETKEY_CLIENT_SECRET,
}: NodeJS.ProcessEnv): boolean {
  return Boolean(VALETKEY_TOKEN || (VALETKEY_CLIENT_ID && VALETKEY_CLIENT_SECRET));
}

/** Returns the origin of the server; by default that of a server on this machine. */
export function readOrigin(env: NodeJS.ProcessEnv, server?: string): string {
  const text = server || env['VALETKEY_URL'] || `http://127.0.0.1:${env['PORT'] || 8080}`;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.href !== `${url.origin}/`)
    throw new UsageError(
      'VALETKEY_URL or --server must be an http or https origin without a path, such as https://keys.example.com',
    );
  return url.origin;
}
