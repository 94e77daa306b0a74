import { createEmulator } from 'emulate';
import { request as send } from 'undici';
import type { ReceivedRequest, Upstream } from './upstream.ts';
import { json, startUpstream } from './upstream.ts';

type Service =
  | 'github'
  | 'google'
  | 'linear'
  | 'microsoft'
  | 'mongoatlas'
  | 'okta'
  | 'resend'
  | 'slack'
  | 'stripe'
  | 'twilio'
  | 'vercel';

export interface EmulatorOptions {
  /** Data in the emulator's own format. */
  seed?: Record<string, unknown>;
  /** Users by their tokens, if the emulator supports tokens. */
  tokens?: Record<string, { login: string; scopes: string[] }>;
  /**
   * Whether the gate accepts a request. The emulators themselves treat any unknown token as that of some user, so tests
   * would pass with a wrong credential.
   */
  accepts: (request: ReceivedRequest) => boolean;
  /** How the vendor refuses a credential, if not by 401. */
  refusal?: { status: number; body: Record<string, unknown> };
}

/**
 * A third-party emulator behind a gate: requests whose credential was never issued are refused, all others
 * reach the emulator. The requests are recorded.
 */
export async function startEmulatedVendor(service: Service, options: EmulatorOptions): Promise<Upstream> {
  const seed = { ...(options.seed && { [service]: options.seed }), ...(options.tokens && { tokens: options.tokens }) };
  const { refusal = { status: 401, body: { message: 'Bad credentials' } } } = options;
  const emulator = await createEmulator({ service, port: 0, seed } as never);
  const gate = await startUpstream(async (request, res) => {
    if (!options.accepts(request)) return json(res, refusal.status, refusal.body);
    const { method, target, headers, body } = request;
    const { host: _host, connection: _connection, ...rest } = headers;
    const answer = await send(new URL(target, emulator.url), {
      method: method as 'GET',
      headers: rest,
      ...(body !== '' && { body }),
    });
    const { connection: _kept, 'transfer-encoding': _framing, ...answered } = answer.headers;
    res.writeHead(answer.statusCode, answered as Record<string, string>).end(await answer.body.text());
  });
  const { stop } = gate;
  gate.stop = async () => {
    await stop();
    await emulator.close();
  };
  return gate;
}

/** Returns a function that reads what the emulator of a vendor stored, or posts to it, without Valetkey. */
export function storeOf(vendor: Upstream, authorization: string, base = '') {
  return async (path: string, body?: Record<string, unknown>) => {
    const answer = await send(`http://127.0.0.1:${vendor.port}${base}${path}`, {
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
    return (await answer.body.json()) as any;
  };
}
