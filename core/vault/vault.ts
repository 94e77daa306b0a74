import type { Secret } from '../secret.ts';
import { open, openSalted, type RandomSource, seal, sealSalted } from './aead.ts';
import { DIRECT, decodeBlob, encodeBlob, SALTED } from './blob.ts';
import {
  bindDataKey,
  bindField,
  bindValue,
  type DataKeyContext,
  type RecordContext,
  type ValueContext,
} from './context.ts';
import { type DataKey, generateDataKey, readDataKey } from './data-key.ts';
import { DataKeyCache } from './data-key-cache.ts';
import { decryptionError, VaultError } from './errors.ts';
import type { KeyEncryptionKey } from './key-ring.ts';
import type { KeySource } from './key-source.ts';
import { decodeSecret, encodeSecret } from './secret-text.ts';

/** A record's wrapped data key. `kekId` repeats the key id in the blob, for queries. */
export interface WrappedDataKey {
  kekId: string;
  wrappedDataKey: Buffer;
}

export interface SealedRecord<Field extends string = string> extends WrappedDataKey {
  sealed: Record<Field, Buffer>;
}

/** A value that is encrypted without a data key. `kekId` repeats the key id in the blob, for queries. */
export interface SealedValue {
  kekId: string;
  blob: Buffer;
}

/** The maximum number of cached data keys, which take some megabytes. */
const MAX_KNOWN = 16_384;

/**
 * Envelope encryption of credentials: every record has its own data key, wrapped by a key-encryption key, and every
 * ciphertext is bound to its row and field. Moved, exchanged or altered values cannot be decrypted.
 *
 * Decryption throws VaultError: `UNKNOWN_KEY` if the key-encryption key is missing, `UNKNOWN_FORMAT` if this version
 * does not know the format, and `UNSEALABLE` otherwise. Data keys of records are cached
 * (docs/decisions/0014-cached-data-keys.md). Those of `sealBytes` are not, because what they encrypt is read only once
 * or twice.
 */
export class Vault {
  readonly #keys: KeySource;
  readonly #random: RandomSource;
  readonly #known = new DataKeyCache(MAX_KNOWN);

  /** @param random cryptographically secure */
  constructor(keys: KeySource, random: RandomSource) {
    this.#keys = keys;
    this.#random = random;
  }

  /** The id of the key with which data is encrypted now. */
  get activeKeyId(): string {
    return this.#keys.current().active.id;
  }

  /**
   * Encrypts the fields of a record under a new data key. Call it with a new generation for every write of credentials.
   */
  sealRecord<Field extends string>(context: RecordContext, fields: Record<Field, Secret>): SealedRecord<Field> {
    const { dataKey, bytes } = generateDataKey(this.#random);
    const wrapped = this.#wrap(context, bytes);
    bytes.fill(0);
    const sealed = mapFields(fields, (field, secret: Secret) => this.#sealField(context, field, dataKey, secret));
    return { ...wrapped, sealed };
  }

  /** Decrypts one field of a record. */
  open(context: RecordContext, field: string, record: Pick<SealedRecord, 'wrappedDataKey' | 'sealed'>): Secret {
    const dataKey = this.#recallDataKey(context, record.wrappedDataKey);
    return openField(context, field, dataKey, Object.hasOwn(record.sealed, field) ? record.sealed[field] : undefined);
  }

  /** Decrypts all fields of a record; throws if one of them cannot be decrypted. */
  openRecord<Field extends string>(
    context: RecordContext,
    record: Pick<SealedRecord<Field>, 'wrappedDataKey' | 'sealed'>,
  ): Record<Field, Secret> {
    const dataKey = this.#recallDataKey(context, record.wrappedDataKey);
    return mapFields(record.sealed, (field, blob: Buffer) => openField(context, field, dataKey, blob));
  }

  /**
   * Rewraps a data key with the active key-encryption key. Fields and generation do not change.
   *
   * @returns `null` if it is already under the active key
   */
  rewrap(context: DataKeyContext, wrappedDataKey: Buffer): WrappedDataKey | null {
    if (decodeBlob(DIRECT, wrappedDataKey).keyId === this.#keys.current().active.id) return null;
    const bytes = this.#unwrap(context, wrappedDataKey);
    const wrapped = this.#wrap(context, bytes);
    bytes.fill(0);
    return wrapped;
  }

  /**
   * Encrypts bytes under their own data key, for large or short-lived contents: a rotation only rewraps the data key.
   */
  sealBytes(context: DataKeyContext, bytes: Buffer): WrappedDataKey & { sealed: Buffer } {
    const { dataKey, bytes: keyBytes } = generateDataKey(this.#random);
    const wrapped = this.#wrap(context, keyBytes);
    keyBytes.fill(0);
    const body = seal(dataKey.key, bindValue(DIRECT, dataKey.id, { ...context, field: 'bytes' }), bytes, this.#random);
    return { ...wrapped, sealed: encodeBlob(DIRECT, dataKey.id, body) };
  }

  openBytes(context: DataKeyContext, { wrappedDataKey, sealed }: { wrappedDataKey: Buffer; sealed: Buffer }): Buffer {
    const dataKey = this.#openDataKey(context, wrappedDataKey);
    const { keyId, body } = decodeBlob(DIRECT, sealed);
    if (keyId !== dataKey.id) throw decryptionError(new Error('The bytes belong to another data key'));
    const associatedData = bindValue(DIRECT, dataKey.id, { ...context, field: 'bytes' });
    return opening(() => open(dataKey.key, associatedData, body));
  }

  /** Encrypts a single value, such as a deployment secret, without a data key. */
  sealValue(context: ValueContext, value: Secret): SealedValue {
    const kek = this.#keys.current().active;
    const plaintext = encodeSecret(value);
    const body = sealSalted(kek.sealing, bindValue(SALTED, kek.id, context), plaintext, this.#random);
    plaintext.fill(0);
    return { kekId: kek.id, blob: encodeBlob(SALTED, kek.id, body) };
  }

  openValue(context: ValueContext, blob: Buffer): Secret {
    const { keyId, body } = decodeBlob(SALTED, blob);
    const kek = this.#find(keyId);
    const associatedData = bindValue(SALTED, keyId, context);
    return decodeSecret(opening(() => openSalted(kek.sealing, associatedData, body)));
  }

  /** Encrypts a value again under the active key-encryption key; returns `null` if it is already under that key. */
  resealValue(context: ValueContext, blob: Buffer): SealedValue | null {
    if (decodeBlob(SALTED, blob).keyId === this.#keys.current().active.id) return null;
    return this.sealValue(context, this.openValue(context, blob));
  }

  #wrap(context: DataKeyContext, bytes: Buffer): WrappedDataKey {
    const kek = this.#keys.current().active;
    const body = seal(kek.wrapping, bindDataKey(DIRECT, kek.id, context), bytes, this.#random);
    return { kekId: kek.id, wrappedDataKey: encodeBlob(DIRECT, kek.id, body) };
  }

  #unwrap(context: DataKeyContext, wrappedDataKey: Buffer): Buffer {
    const { keyId, body } = decodeBlob(DIRECT, wrappedDataKey);
    const kek = this.#find(keyId);
    const associatedData = bindDataKey(DIRECT, keyId, context);
    return opening(() => open(kek.wrapping, associatedData, body));
  }

  /**
   * Returns a data key, from the cache if possible. After a key-encryption key was removed from the ring, its data keys
   * cannot be used, even if they are cached.
   */
  #recallDataKey(context: DataKeyContext, wrappedDataKey: Buffer): DataKey {
    this.#find(decodeBlob(DIRECT, wrappedDataKey).keyId);
    return this.#known.get(context, wrappedDataKey) ?? this.#openDataKey(context, wrappedDataKey, this.#known);
  }

  #openDataKey(context: DataKeyContext, wrappedDataKey: Buffer, remember?: DataKeyCache): DataKey {
    const bytes = this.#unwrap(context, wrappedDataKey);
    remember?.set(context, wrappedDataKey, bytes);
    const dataKey = readDataKey(bytes);
    bytes.fill(0);
    return dataKey;
  }

  #sealField(context: RecordContext, field: string, dataKey: DataKey, secret: Secret): Buffer {
    const plaintext = encodeSecret(secret);
    const body = seal(dataKey.key, bindField(DIRECT, dataKey.id, context, field), plaintext, this.#random);
    plaintext.fill(0);
    return encodeBlob(DIRECT, dataKey.id, body);
  }

  #find(keyId: string): KeyEncryptionKey {
    const kek = this.#keys.find(keyId);
    if (kek === undefined)
      throw new VaultError('UNKNOWN_KEY', `The key ${keyId} is neither in the key file nor in VALETKEY_KEYS`);
    return kek;
  }
}

function openField(context: RecordContext, field: string, dataKey: DataKey, blob: Buffer | undefined): Secret {
  if (blob === undefined) throw decryptionError(new Error(`The record has no field ${JSON.stringify(field)}`));
  const { keyId, body } = decodeBlob(DIRECT, blob);
  if (keyId !== dataKey.id) throw decryptionError(new Error('The field belongs to another data key'));
  const associatedData = bindField(DIRECT, dataKey.id, context, field);
  return decodeSecret(opening(() => open(dataKey.key, associatedData, body)));
}

function opening(decrypt: () => Buffer): Buffer {
  try {
    return decrypt();
  } catch (cause) {
    throw decryptionError(cause);
  }
}

function mapFields<Field extends string, From, To>(
  fields: Record<Field, From>,
  map: (field: Field, value: From) => To,
): Record<Field, To> {
  const entries = Object.entries(fields) as [Field, From][];
  // Built from entries, so that a field named __proto__ is an ordinary field.
  return Object.fromEntries(entries.map(([field, value]) => [field, map(field, value)])) as Record<Field, To>;
}
