import { createHash } from 'node:crypto';
import { parseJson } from './json.ts';

/** The work of `jsonJob`, in its thread. */
export function run(bytes: Uint8Array): { value: unknown; digest: Uint8Array } {
  return {
    value: parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
    digest: createHash('sha256').update(bytes).digest(),
  };
}
