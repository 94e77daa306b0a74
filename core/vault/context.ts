import type { BlobVersion } from './blob.ts';
import { lengthPrefixed } from './length-prefix.ts';

/** The row that a data key belongs to. The wrapped key cannot be decrypted for another row. */
export interface DataKeyContext {
  /** The name of the table. */
  table: string;
  environmentId: string;
  /** The id of the row, for example of an account. */
  recordId: string;
  /** Increases with every new credential of the row; it changes only together with the encrypted columns. */
  generation: number;
}

/** The row of encrypted fields, and the binding of its credentials. */
export interface RecordContext extends DataKeyContext {
  /** From `bindingDigest`. Fields that were encrypted with another binding cannot be decrypted. */
  bindingDigest: Buffer;
}

/** The identity that a single encrypted value is bound to. */
export interface ValueContext {
  table: string;
  /** Empty for a value of the whole deployment. */
  environmentId: string;
  recordId: string;
  field: string;
  /** Set if older values must not be decryptable any more; it increases with every new value. */
  generation?: number;
  /** From `bindingDigest`, if the value may only be used for certain destinations. */
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

/**
 * Returns the associated data. It contains everything that identifies the place of a ciphertext, so that the ciphertext
 * cannot be decrypted anywhere else.
 */
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
