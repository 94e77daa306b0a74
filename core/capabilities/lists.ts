import type { ReadRepositories } from '../../db/store.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';

/** Lists with page tokens. */
export interface Lists {
  store: { readonly read: ReadRepositories };
  /** Encrypts page tokens. */
  sealedTokens: SealedTokens;
  /** Milliseconds UTC. */
  now(): number;
}
