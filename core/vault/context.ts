import type { BlobVersion } from './blob.ts';
import { lengthPrefixed } from './length-prefix.ts';

/** The row that a data key belongs to. Its wrapping opens nowhere else. */
export interface DataKeyContext {
  /** Name of the table. */
  table: string;
  environmentId: string;
  /** Id of the row, an account for example. */
  recordId: string;
  /** Grows with every new credential of the row, and changes only together with what is sealed. */
  generation: number;
}

/** The row of sealed fields, and where its credentials may be sent. */
export interface RecordContext extends DataKeyContext {
  /** Of `originsDigest`: another set of origins cannot open what was sealed for this one. */
  originsDigest: Buffer;
}

/** The place of a single sealed value. */
export interface ValueContext {
  table: string;
  /** Empty for a value of the whole deployment. */
  environmentId: string;
  recordId: string;
  field: string;
}

const DIGEST_BYTES = 32;
const NO_DIGEST = Buffer.alloc(0);

export function bindDataKey(version: BlobVersion, keyId: string, context: DataKeyContext): Buffer {
  return bind('data key', version, keyId, context, '', generationOf(context), NO_DIGEST);
}

export function bindField(version: BlobVersion, keyId: string, context: RecordContext, field: string): Buffer {
  if (context.originsDigest.length !== DIGEST_BYTES) throw new TypeError('The origins digest must have 32 bytes');
  return bind('field', version, keyId, context, field, generationOf(context), context.originsDigest);
}

export function bindValue(version: BlobVersion, keyId: string, context: ValueContext): Buffer {
  return bind('value', version, keyId, context, context.field, '', NO_DIGEST);
}

/** The associated data: everything that says where a ciphertext belongs, so that it fails to open anywhere else. */
function bind(
  purpose: string,
  version: BlobVersion,
  keyId: string,
  place: Pick<ValueContext, 'table' | 'environmentId' | 'recordId'>,
  field: string,
  generation: string,
  originsDigest: Buffer,
): Buffer {
  const { table, environmentId, recordId } = place;
  const format = `valetkey ${purpose} ${version}`;
  return lengthPrefixed([format, table, environmentId, recordId, field, keyId, generation, originsDigest]);
}

function generationOf({ generation }: DataKeyContext): string {
  if (!Number.isSafeInteger(generation) || generation < 0) throw new TypeError('The generation must be a whole number');
  return String(generation);
}
