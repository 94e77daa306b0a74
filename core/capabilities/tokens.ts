import type { ReadRepositories } from '../../db/store.ts';
import type { SigningKeys } from '../tokens/signing-key.ts';
import type { Digester } from '../vault/digest.ts';

/** Access tokens for API clients. */
export interface Tokens {
  store: { readonly read: ReadRepositories };
  digester: Digester;
  signingKeys: SigningKeys;
  now(): number;
  random(size: number): Buffer;
}
