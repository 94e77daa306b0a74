import { createCipheriv, createDecipheriv, createHash, type KeyObject, sign } from 'node:crypto';

const NONCE = 12;
const TAG = 16;

/** Encrypts with AES-256-GCM under one key; returns nonce, ciphertext, tag. */
export function encrypt(key: KeyObject, nonce: Buffer, text: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

export function decrypt(key: KeyObject, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  const text = decipher.update(sealed.subarray(NONCE, sealed.length - TAG), undefined, 'utf8');
  return text + decipher.final('utf8');
}

/** Returns the hash of an audit row, which includes the hash of the previous row. */
export function chain(before: Buffer, fields: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(fields)).update(before).digest();
}

export function signToken(key: KeyObject, claims: object): string {
  const head = Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url');
  const text = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
