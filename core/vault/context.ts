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

/** The row of sealed fields, and what its credentials were given for. */
export interface RecordContext extends DataKeyContext {
  /** From `bindingDigest`: what was sealed for other origins or terms does not open. */
  bindingDigest: Buffer;
}

/** The place of a single sealed value. */
export interface ValueContext {
  table: string;
  /** Empty for a value of the whole deployment. */
  environmentId: string;
  recordId: string;
  field: string;
  /** Grows with every new value, where older ones must not open any more. */
  generation?: number;
  /** From `bindingDigest`, where the value was given for some purpose only. */
  bindingDigest?: Buffer;
}

const DIGEST_BYTES = 32;
const NO_DIGEST = Buffer.alloc(0);

export function bindDataKey(version: BlobVersion, keyId: string, context: DataKeyContext): Buffer {
  return bind('data key', version, keyId, context, '', generationOf(context), NO_DIGEST);
}

export function bindField(version: BlobVersion, keyId: string, context: RecordContext, field: string): Buffer {
  return bind('field', version, keyId, context, field, generationOf(context), wholeDigest(context.bindingDigest));
}

export function bindValue(version: BlobVersion, keyId: string, context: ValueContext): Buffer {
  const { field, generation, bindingDigest } = context;
  const sealedAs = generation === undefined ? '' : generationOf({ generation });
  const digest = bindingDigest === undefined ? NO_DIGEST : wholeDigest(bindingDigest);
  return bind('value', version, keyId, context, field, sealedAs, digest);
}

/** The associated data: everything that says where a ciphertext belongs, so that it fails to open anywhere else. */
function bind(
  purpose: string,
  version: BlobVersion,
  keyId: string,
  place: Pick<ValueContext, 'table' | 'environmentId' | 'recordId'>,
  field: string,
  generation: string,
  bindingDigest: Buffer,
): Buffer {
  const { table, environmentId, recordId } = place;
  const format = `valetkey ${purpose} ${version}`;
  return lengthPrefixed([format, table, environmentId, recordId, field, keyId, generation, bindingDigest]);
}

function wholeDigest(digest: Buffer): Buffer {
  if (digest.length !== DIGEST_BYTES) throw new TypeError('The binding digest must have 32 bytes');
  return digest;
}

function generationOf({ generation }: Pick<DataKeyContext, 'generation'>): string {
  if (!Number.isSafeInteger(generation) || generation < 0) throw new TypeError('The generation must be a whole number');
  return String(generation);
}
