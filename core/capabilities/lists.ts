import type { ReadRepositories } from '../../db/store.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';

/** The dependencies of an API operation that returns a list page by page. */
export interface Lists {
  store: { readonly read: ReadRepositories };
  /** Encrypts page tokens. */
  sealedTokens: SealedTokens;
  /** Milliseconds UTC. */
  now(): number;
}
