import { randomBytes } from 'node:crypto';
import type { Command } from '@commander-js/extra-typings';
import { InvalidArgumentError } from 'commander';
import { isLoopbackHost, targetOf } from '../../../core/net/target.ts';
import { hmacSignature } from '../../../core/webhooks/signature.ts';
import { withServer } from '../../api/options.ts';
import { readApiSettings } from '../../api/settings.ts';
import { followEvents, type StreamedEvent } from '../../api/stream.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { toJson } from '../../output/json.ts';
import { examples, note, say } from '../../output/print.ts';

const FORWARD_MS = 15_000;

/**
 * `valetkey webhooks listen`: forwards events to an application on this machine, signed as Standard Webhooks describes
 * it, until it is interrupted.
 */
export function configure(command: Command): void {
  withServer(
    command.requiredOption('--forward-to <address>', 'the http address of the application on this machine', loopback),
  )
    .addHelpText('after', examples('webhooks listen --forward-to http://localhost:3000/webhooks'))
    .action(async ({ forwardTo, server, json }) => {
      const key = randomBytes(32);
      const settings = readApiSettings(process.env, server);
      const secret = `whsec_${key.toString('base64')}`;
      note`Events are sent to ${forwardTo}, signed with the secret ${secret}`;
      const interrupted = (reason: string) => note`The stream was interrupted (${reason}). Connecting again.`;
      for await (const event of followEvents(settings, untilInterrupted(), interrupted)) {
        const status = await forward(event, forwardTo, key);
        if (json) process.stdout.write(`${toJson({ id: event.id, type: event.type, status }, 0)}\n`);
        else say`${event.type}  ${event.id}  ${status ?? 'no response'}`;
      }
    });
}

/** @returns the status that the application returned; null without a response */
async function forward({ id, data }: StreamedEvent, to: string, key: Buffer): Promise<number | null> {
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
    return response.status;
  } catch {
    return null;
  }
}

function loopback(text: string): string {
  const url = URL.parse(text);
  if (url && ['http:', 'https:'].includes(url.protocol) && isLoopbackHost(targetOf(url).hostname)) return text;
  throw new InvalidArgumentError('It must be a URL of this machine, such as http://localhost:3000/webhooks.');
}
