/** The place to correct before a token can be obtained: the settings of the connection, or the data of the account. */
export type FaultyPart = 'connection' | 'account';

/**
 * The configuration of the connection, its provider or the account does not allow a request, so the request was not
 * sent. The message is shown to API clients.
 */
export class OAuthConfigError extends Error {
  readonly faultyPart: FaultyPart;

  constructor(
    message: string,
    { faultyPart = 'connection', cause }: { faultyPart?: FaultyPart; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'OAuthConfigError';
    this.faultyPart = faultyPart;
  }
}
