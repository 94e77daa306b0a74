/** What must be changed before a token can be obtained: the settings of the connection, or the data of the account. */
export type Culprit = 'connection' | 'account';

/**
 * The configuration of the connection, its provider or the account does not allow the operation. Nothing was sent. The
 * message is a public sentence.
 */
export class OAuthConfigError extends Error {
  readonly culprit: Culprit;

  constructor(message: string, { culprit = 'connection', cause }: { culprit?: Culprit; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OAuthConfigError';
    this.culprit = culprit;
  }
}
