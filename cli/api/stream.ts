import { accessToken, send } from './client.ts';
import { ApiFailure } from './failures.ts';
import type { ApiSettings } from './settings.ts';

/** An event that `GET /api/v1/events:stream` sends. */
export interface StreamedEvent {
  id: string;
  type: string;
  /** The event as JSON. */
  data: string;
}

/** How long to wait before connecting again, in milliseconds. */
const RECONNECT_MS = 2_000;

/**
 * Reads `GET /api/v1/events:stream` until the signal is aborted. After an interruption it connects again and continues
 * after the last event that it returned.
 *
 * @param interrupted receives the reason when the stream ended, before it is opened again
 * @throws ApiFailure for a response of 4xx, and any error that happens before the first stream was opened
 */
export async function* followEvents(
  settings: ApiSettings,
  signal: AbortSignal,
  interrupted: (reason: string) => void,
): AsyncGenerator<StreamedEvent> {
  let lastId: string | undefined;
  let wasOpen = false;
  while (!signal.aborted) {
    try {
      const response = await openStream(settings, lastId, signal);
      wasOpen = true;
      for await (const event of readEvents(response)) {
        yield event;
        lastId = event.id;
      }
      interrupted('the server ended it');
    } catch (error) {
      if (signal.aborted) return;
      if (!wasOpen || (error instanceof ApiFailure && error.status < 500)) throw error;
      interrupted((error as Error).message);
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

async function openStream(settings: ApiSettings, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
  const authorization = `Bearer ${await accessToken(settings)}`;
  const headers = { authorization, ...(lastId !== undefined && { 'last-event-id': lastId }) };
  const response = await send(new Request(new URL('/api/v1/events:stream', settings.origin), { headers }), signal);
  if (!response.ok) throw new ApiFailure(response.status, await response.json().catch(() => null));
  return response;
}

/** Parses the server-sent events of a response. Blocks without an `id`, such as comments, are skipped. */
async function* readEvents(response: Response): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      const id = fields.get('id');
      if (id !== undefined) yield { id, type: fields.get('event') ?? '', data: fields.get('data') ?? '' };
    }
  }
}
