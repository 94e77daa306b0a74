/** A secret of the whole deployment, for example the key that signs tokens, encrypted under a key-encryption key. */
export interface DeploymentSecretRow {
  name: string;
  kekId: string;
  sealed: Buffer;
  createdAt: number;
}

/** A check value, which shows at start whether a key-encryption key is the one that encrypted the data. */
export interface KeyCheckRow {
  kekId: string;
  checkValue: Buffer;
  createdAt: number;
}
