import type { Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import type { FieldPlacement } from './auth-pattern.ts';

/** The credential that an account authenticates with now. */
export type Credential =
  | { kind: 'none' }
  | TokenCredential
  | StaticCredential
  /** Signs the whole request, and is not itself a part of it. */
  | { kind: 'signer'; signer: RequestSigner };

export interface TokenCredential {
  kind: 'token';
  accessToken: Secret;
  /** The client id of the connection. */
  consumerKey?: string;
}

export interface StaticCredential {
  kind: 'static';
  details: Readonly<Record<string, Secret>>;
  /** The fields that were secret when they were set. They stay secret even if the pattern changes. */
  secret?: ReadonlySet<string>;
}

/** One part of a request that contains a credential. `masked` is the text that users may see. */
export interface PlacedPart {
  in: FieldPlacement['in'];
  name: string;
  value: string;
  masked: string;
}

export interface PlacedCredential {
  parts: PlacedPart[];
  /** Every text that must not appear in a response: the secrets and their encodings in the request. */
  secrets: string[];
}
