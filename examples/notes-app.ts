import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';

interface Note {
  id: number;
  text: string;
}

/**
 * A small third-party application for experiments: notes that require an API key. It rejects what a real application
 * would: a missing or wrong key (401), a note without text (422), a note that does not exist (404).
 *
 * @param apiKey the only accepted key, in the header X-Api-Key
 */
export function createNotesApp(apiKey: string): Server {
  const notes: Note[] = [{ id: 1, text: 'Water the plants' }];
  return createServer(async (req, res) => {
    if (req.headers['x-api-key'] !== apiKey) return answer(res, 401, { error: 'unknown API key' });
    const path = new URL(req.url ?? '/', 'http://localhost').pathname;
    if (path === '/notes' && req.method === 'GET') return answer(res, 200, notes);
    if (path === '/notes' && req.method === 'POST') return addNote(req, res, notes);
    const note = notes.find((one) => path === `/notes/${one.id}`);
    if (!note) return answer(res, 404, { error: 'no such note' });
    if (req.method === 'GET') return answer(res, 200, note);
    if (req.method !== 'DELETE') return answer(res, 405, { error: 'method not allowed' });
    notes.splice(notes.indexOf(note), 1);
    return answer(res, 200, note);
  });
}

async function addNote(req: IncomingMessage, res: ServerResponse, notes: Note[]): Promise<void> {
  const text = textOf(await readAll(req));
  if (text === undefined) return answer(res, 422, { error: 'text is required' });
  const note = { id: (notes.at(-1)?.id ?? 0) + 1, text };
  notes.push(note);
  return answer(res, 201, note);
}

async function readAll(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function textOf(body: string): string | undefined {
  try {
    const { text } = JSON.parse(body) as { text?: unknown };
    return typeof text === 'string' && text !== '' ? text : undefined;
  } catch {
    return undefined;
  }
}

function answer(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

if (import.meta.main) {
  const port = Number(process.env['NOTES_PORT'] ?? 9900);
  const key = process.env['NOTES_API_KEY'] ?? 'notes-demo-key-1234';
  const app = createNotesApp(key).listen(port, '127.0.0.1', () => {
    const { port: bound } = app.address() as { port: number };
    console.log(`Notes listen on http://127.0.0.1:${bound} and accept the API key ${key}`);
  });
}
