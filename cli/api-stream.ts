import type { Secret } from '../core/secret.ts';
import { UsageError } from './usage-error.ts';

/** An event of the stream. */
export interface StreamedEvent {
  id: string;
  type: string;
  /** The event as JSON. */
  data: string;
}

/** Reads `GET /api/v1/events:stream` of a server, as one of its API clients. */
export class ApiStream {
  readonly #origin: string;
  readonly #client: { id: string; secret: Secret };

  constructor(origin: string, client: { id: string; secret: Secret }) {
    this.#origin = origin;
    this.#client = client;
  }

  /**
   * @param lastId the last event that was read; without it, the stream begins with the next event
   * @throws UsageError when the server refuses the client or the stream
   */
  async *open(lastId: string | undefined, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
    const authorization = `Bearer ${await this.#token(signal)}`;
    const headers = { authorization, ...(lastId !== undefined && { 'last-event-id': lastId }) };
    const response = await fetch(new URL('/api/v1/events:stream', this.#origin), { headers, signal });
    await requireOk(response);
    yield* readEvents(response);
  }

  async #token(signal: AbortSignal): Promise<string> {
    const { id, secret } = this.#client;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret.reveal(),
      scope: 'events:read',
    });
    const response = await fetch(new URL('/oauth/token', this.#origin), { method: 'POST', body, signal });
    await requireOk(response);
    return ((await response.json()) as { access_token: string }).access_token;
  }
}

async function requireOk(response: Response): Promise<void> {
  if (response.ok) return;
  const { detail, error_description: description } = (await response.json().catch(() => ({}))) as Record<
    string,
    string
  >;
  const text = detail ?? description ?? '';
  if (response.status < 500) throw new UsageError(`the server returned ${response.status}: ${text}`);
  throw new Error(`the server returned ${response.status}`);
}

/** The fields of server-sent events that the server sends. Comments have none. */
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
