/** What has to be changed before a token can be had: the settings of the connection, or what the account was given. */
export type Culprit = 'connection' | 'account';

/** The connection, its provider or the account is not set up for what is asked; nothing was sent. The message is a public sentence. */
export class OAuthConfigError extends Error {
  readonly culprit: Culprit;

  constructor(message: string, { culprit = 'connection', cause }: { culprit?: Culprit; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OAuthConfigError';
    this.culprit = culprit;
  }
}
