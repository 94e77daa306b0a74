import { createSecretKey, type KeyObject } from 'node:crypto';
import type { RandomSource } from './aead.ts';

const ID_BYTES = 20;
const KEY_BYTES = 32;

/** The size of an unwrapped data key: its id, then the key. */
export const DATA_KEY_BYTES = ID_BYTES + KEY_BYTES;

/** The key of one record's fields. Each encrypted field contains the id, which shows which key it belongs to. */
export interface DataKey {
  id: string;
  key: KeyObject;
}

/** Creates a data key, and the bytes to be wrapped: id, then key. The caller must wipe the bytes. */
export function generateDataKey(random: RandomSource): { dataKey: DataKey; bytes: Buffer } {
  const id = `dek_${random(8).toString('hex')}`;
  const key = random(KEY_BYTES);
  const bytes = Buffer.alloc(DATA_KEY_BYTES);
  bytes.write(id, 'latin1');
  key.copy(bytes, ID_BYTES);
  key.fill(0);
  return { dataKey: readDataKey(bytes), bytes };
}

/** @param bytes from `generateDataKey` */
export function readDataKey(bytes: Buffer): DataKey {
  return { id: bytes.toString('latin1', 0, ID_BYTES), key: createSecretKey(bytes.subarray(ID_BYTES)) };
}
