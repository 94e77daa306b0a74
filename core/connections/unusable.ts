import type { ConnectionRow, EnvironmentRow } from '../../db/store.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { ApiError } from '../errors.ts';
import { registeredCallbackUrl } from './callback-url.ts';
import { missingSettings, settingsOf } from './status.ts';

/** Returns the error for a disabled connection, naming the operation that enables it. */
export function connectionDisabled({ keyId }: Pick<ConnectionRow, 'keyId'>): ApiError {
  const detail = `The connection ${keyId} is disabled.`;
  return new ApiError('CONNECTION_DISABLED', detail, {
    extra: { next_action: configure('enableConnection', `${detail} An administrator must enable it.`) },
  });
}

/**
 * Returns the error for a connection that lacks settings. It says what is missing, and which address to register at the
 * provider.
 */
export function connectionDraft(
  environment: Pick<EnvironmentRow, 'baseUrl' | 'kind'>,
  connection: ConnectionRow,
  definition: { provider: ProviderDefinition; pattern: AuthPattern },
): ApiError {
  const settings = settingsOf(connection, definition, environment.kind === 'PRODUCTION');
  const missing = missingSettings(definition.pattern, settings);
  const callback = registeredCallbackUrl(environment, connection);
  const detail = `The connection ${connection.keyId} lacks ${missing.join(' and ')}.`;
  const register = 'An administrator must register a client at the provider with the redirect URI';
  const message =
    missing.includes('client_id') && callback
      ? `${detail} ${register} ${callback}, and set these fields.`
      : `${detail} An administrator must set these fields.`;
  return new ApiError('CONNECTION_NOT_READY', detail, {
    extra: {
      next_action: configure('updateConnection', message),
      connection_id: connection.id,
      missing_settings: missing,
      callback_url: callback,
    },
  });
}

/** Returns the error for a connection whose provider was deleted; enabling the connection does not make it usable. */
export function providerDeleted({ keyId }: Pick<ConnectionRow, 'keyId'>): ApiError {
  const message = 'The provider was deleted: the application must create an account with another provider.';
  return new ApiError(
    'CONNECTION_DISABLED',
    `The connection ${keyId} cannot be used, because its provider was deleted.`,
    {
      extra: { next_action: { type: 'authorize', operation_id: 'createConnectedAccount', message } },
    },
  );
}

function configure(operation_id: string, message: string) {
  return { type: 'configure', operation_id, message };
}
