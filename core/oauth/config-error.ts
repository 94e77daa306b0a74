/** The connection or its provider is not set up for what is asked; nothing was sent. The message is a public sentence. */
export class OAuthConfigError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'OAuthConfigError';
  }
}
