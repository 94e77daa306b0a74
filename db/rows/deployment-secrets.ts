/** A secret of the whole deployment, such as the key that signs tokens, sealed under a key-encryption key. */
export interface DeploymentSecretRow {
  name: string;
  kekId: string;
  sealed: Buffer;
  createdAt: number;
}

/** Proves at start that a key-encryption key is the one that sealed the data. */
export interface KeyCheckRow {
  kekId: string;
  checkValue: Buffer;
  createdAt: number;
}
