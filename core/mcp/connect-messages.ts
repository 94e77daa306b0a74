import { ApiError, type ErrorCode } from '../errors.ts';

/** The `next_action` of an error: the step that is required before the call can succeed. */
interface NextAction {
  type: string;
  operation_id?: string;
  message: string;
}

/**
 * Returns the text that asks a user to connect an account.
 *
 * @param provider the display name of the provider
 * @param action the type of the `next_action` in the account's error, or `extend` if the account lacks a scope;
 * undefined if there is no account
 */
export function connectMessage(provider: string, action?: string): string {
  switch (action) {
    case 'reauthorize':
      return `Your access to ${provider} has ended. Open the link to connect your account again.`;
    case 'reconnect':
      return `Your ${provider} account was disconnected. Open the link to connect it again.`;
    case 'extend':
      return `${provider} requires more access than you have granted. Open the link to grant it.`;
    default:
      return `Connect your ${provider} account to continue. Open the link to do so.`;
  }
}

/** Returns the text for a model whose user has a link but has not finished connecting the account. */
export function stillWaitingMessage(provider: string): string {
  return `The user has not finished connecting the ${provider} account. When the user has, call the tool again.`;
}

export function declinedMessage(provider: string): string {
  return `The user declined to connect ${provider}.`;
}

/** The operation that resolves each error, and a sentence that says who must do it. */
const REMEDIES: Partial<Record<ErrorCode, readonly [operationId: string, sentence: string]>> = {
  ACCOUNT_NOT_ACTIVE: ['generateMagicLink', 'The application must create a link for the user.'],
  VALIDATION_FAILED: ['createMcpSessionToken', 'The application must request another session token.'],
  UNSUPPORTED_CONNECTION_TYPE: ['createConnectedAccount', 'The application must store the credentials.'],
  INVALID_AUTHORIZATION_DETAILS: ['createConnectedAccount', 'The application must store the credentials.'],
  INVALID_API_CONFIG: ['createConnectedAccount', 'The application must store the settings of the account.'],
  PROVIDER_HAS_NO_BASE_URL: ['updateCustomProvider', 'An administrator must set the base URL of the provider.'],
};

/** Operations that change a connection or a provider, not an account. */
const SETTINGS: ReadonlySet<string> = new Set(['enableConnection', 'updateConnection', 'updateCustomProvider']);

/**
 * Returns the `next_action` for a call that failed because an account or a setting is missing.
 *
 * @param hasAccount whether an account exists, so that it must be updated and not created
 * @returns undefined for other errors, and for errors that already have a `next_action`
 */
export function nextActionOf({ code, message, errors, extra }: ApiError, hasAccount: boolean): NextAction | undefined {
  const remedy = REMEDIES[code];
  if (extra?.['next_action'] || !remedy) return undefined;
  const [operation, sentence] = remedy;
  const operation_id = hasAccount && operation === 'createConnectedAccount' ? 'updateConnectedAccount' : operation;
  const details = (errors ?? []).map((error) => ` ${error.field} ${error.message}.`).join('');
  const type = SETTINGS.has(operation_id) ? 'configure' : 'authorize';
  return { type, operation_id, message: `${sentence} The user cannot do this here. ${message}${details}` };
}

/** Returns the error of a call whose user has no usable account and cannot be sent a link. */
export function cannotConnect(cause: ApiError, provider: string, hasAccount: boolean): ApiError {
  const next_action = cause.extra?.['next_action'] ??
    nextActionOf(cause, hasAccount) ?? {
      type: 'authorize',
      message: `The application must create the account. ${cause.message}`,
    };
  return new ApiError('ACCOUNT_NOT_ACTIVE', `The user has no usable ${provider} account.`, {
    extra: { next_action },
    cause,
  });
}
