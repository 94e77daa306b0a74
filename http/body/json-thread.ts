import { createHash } from 'node:crypto';
import { parseJson } from './json.ts';

/** Parses a body, inside the thread. */
export function run(bytes: Uint8Array): { value: unknown; digest: Uint8Array } {
  return {
    value: parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
    digest: createHash('sha256').update(bytes).digest(),
  };
}
