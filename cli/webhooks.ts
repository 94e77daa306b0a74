import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { isLoopbackHost } from '../core/net/target.ts';
import { hmacSignature } from '../core/webhooks/signature.ts';
import { readConfig } from '../http/config/config.ts';
import { ApiStream, type StreamedEvent } from './api-stream.ts';
import { UsageError } from './usage-error.ts';

const USAGE = 'webhooks listen --forward-to <http address of this machine> [--server <origin>]';
const FORWARD_MS = 15_000;
const RECONNECT_MS = 2_000;

/** `valetkey webhooks listen`: sends the events of an environment to an application on this machine, until it is interrupted. */
export async function webhooksCommand([action, ...args]: string[]): Promise<void> {
  if (action !== 'listen') throw new UsageError(`the action is: ${USAGE}`);
  const { forwardTo, server } = readOptions(args);
  const { config, secrets } = readConfig(process.env);
  if (!secrets.firstClient)
    throw new UsageError('set VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET to those of an API client');
  const { id, secret } = secrets.firstClient;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const stream = new ApiStream(server ?? `http://127.0.0.1:${config.port}`, { id, secret });
  await forwardEvents(stream, forwardTo, randomBytes(32), console.log, stop.signal);
}

/**
 * Forwards events, signed as Standard Webhooks describes it, and continues after an interruption without a gap.
 *
 * @param key signs; it is printed as the secret with which the application verifies
 * @throws UsageError when the server refuses the stream
 */
export async function forwardEvents(
  stream: ApiStream,
  to: string,
  key: Buffer,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  print(`Events are sent to ${to}, signed with the secret whsec_${key.toString('base64')}`);
  let lastId: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const event of stream.open(lastId, signal)) {
        print(`${event.type}  ${event.id}  ${await forward(event, to, key)}`);
        lastId = event.id;
      }
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (signal.aborted) return;
      print(`The stream was interrupted (${(error as Error).message}). Connecting again.`);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }
}

/** @returns what the application returned, for people */
async function forward({ id, data }: StreamedEvent, to: string, key: Buffer): Promise<string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': hmacSignature(key, Buffer.from(`${id}.${timestamp}.${data}`)),
  };
  try {
    const signal = AbortSignal.timeout(FORWARD_MS);
    const response = await fetch(to, { method: 'POST', headers, body: data, redirect: 'manual', signal });
    await response.body?.cancel();
    return String(response.status);
  } catch {
    return 'no response';
  }
}

function readOptions(args: string[]): { forwardTo: string; server: string | undefined } {
  const options = { 'forward-to': { type: 'string' }, server: { type: 'string' } } as const;
  let values: { 'forward-to'?: string; server?: string };
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { 'forward-to': forwardTo = '', server } = values;
  const url = URL.parse(forwardTo);
  if (!url || !['http:', 'https:'].includes(url.protocol) || !isLoopbackHost(url.hostname)) {
    throw new UsageError(
      '--forward-to must be an http address of this machine, such as http://localhost:3000/webhooks',
    );
  }
  if (server !== undefined && !URL.canParse(server)) throw new UsageError('--server must be an origin');
  return { forwardTo, server };
}
